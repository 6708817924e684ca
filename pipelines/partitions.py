"""Partitions: rounds of corpus growth (dynamic) and recipes of reinforcement learning (static, named by the profile).

Pages and questions are rows of tables, never partitions: the UI and its daemons are made for tens to hundreds of keys.
"""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from assets.step import Per
from resources.profiles import Profile

ROUNDS = dg.DynamicPartitionsDefinition(name="rounds")


def partitions_of(profile: Profile) -> Mapping[Per, dg.PartitionsDefinition]:
    """The partitions of the graph under a profile."""
    return {"round": ROUNDS, "recipe": dg.StaticPartitionsDefinition(list(profile.recipes))}
