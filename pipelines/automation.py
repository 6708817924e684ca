"""What follows new data by itself: one named condition, for cheap assets only. GPU work is started by a person or a backfill.

The condition is edge-triggered: a failed run is not asked for again until something new arrives (level-triggered conditions have cost
others hundreds of thousands of failed runs); a step's own retries are bounded by its retry policy. The sensor that evaluates it is off
until someone switches it on.
"""

from __future__ import annotations

import dagster as dg

# From a new round to the questions that its sealed world can answer. Everything after that trains or samples a model.
FOLLOWS = frozenset(
    {
        "extracted_questions",
        "search_hits",
        "screened_questions",
        "crawled_pages",
        "candidate_pages",
        "removed_sources",
        "page_store",
        "search_index",
        "world",
        "answerable_questions",
        "evaluation_report",
        "recipe_comparison",
    }
)


def follow_new_data() -> dg.AutomationCondition:
    """Once, whenever a parent has something new, nothing above is missing or still running, and the gates above have passed."""
    condition = dg.AutomationCondition.eager() & dg.AutomationCondition.all_deps_blocking_checks_passed()
    return condition.with_label("follow_new_data")


def automation_sensor() -> dg.AutomationConditionSensorDefinition:
    """Evaluates `follow_new_data`; off until switched on."""
    return dg.AutomationConditionSensorDefinition(
        "follow_new_data",
        target=dg.AssetSelection.assets(*sorted(FOLLOWS)),
        default_status=dg.DefaultSensorStatus.STOPPED,
        minimum_interval_seconds=60,
    )
