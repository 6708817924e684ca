"""The questions: drawn from seed pages, screened, their sources removed from the world, and checked for what still supports their answers.

How a question is made and judged stands in `terrarium.questions`.
"""

from __future__ import annotations

from assets.inputs import Inputs
from assets.step import step
from terrarium.job import Job


@step(
    "terrarium.questions.extract:extract",
    group="questions",
    per="round",
    after=("seed_pages",),
    gates=("one_split_a_question",),
    samples=("questions.parquet", "dropped.parquet"),
)
def extracted_questions(inputs: Inputs) -> Job:
    """Question-answer pairs drawn from pages, with evidence, labelled with the capability they ask for."""
    return inputs.job(pages=inputs.folder("seed_pages"), round=inputs.round, settings=inputs.profile.questions)


@step(
    "terrarium.questions.screen:screen",
    group="questions",
    per="round",
    after=("extracted_questions", "search_hits", "benchmarks"),
    samples=("questions.parquet", "dropped.parquet", "undecided.parquet"),
)
def screened_questions(inputs: Inputs) -> Job:
    """Those that pass the rubric, are not answered by a web snippet alone, and stand in no benchmark.

    Every drop has a reason; an outage drops nothing.
    """
    return inputs.job(
        questions=inputs.folder("extracted_questions"),
        hits=inputs.folder("search_hits"),
        benchmarks=inputs.folder("benchmarks"),
        settings=inputs.profile.screen,
    )


@step(
    "terrarium.questions.removal:remove",
    group="questions",
    after=("candidate_pages", "screened_questions", "benchmarks"),
    samples=("removed.parquet",),
)
def removed_sources(inputs: Inputs) -> Job:
    """What is hidden from the world and why.

    Source pages of screened questions, their URL variants, mirrors and near-duplicates; pages that publish benchmark answers.
    """
    return inputs.job(
        pages=inputs.folder("candidate_pages"),
        questions=inputs.folders("screened_questions"),
        benchmarks=inputs.folder("benchmarks"),
        mode=inputs.profile.removal,
    )


@step(
    "terrarium.questions.support:answerable",
    group="questions",
    after=("screened_questions", "candidate_pages", "world"),
    gates=("no_source_in_two_splits", "no_fact_in_two_splits", "sft_and_rl_share_no_fact"),
    unfinished=("undecided",),
    samples=("questions.parquet", "dropped.parquet", "undecided.parquet"),
)
def answerable_questions(inputs: Inputs) -> Job:
    """Those whose answer other pages of the world still support and its snippets do not give away; split into train, validation and test."""
    return inputs.job(
        questions=inputs.folders("screened_questions"),
        pages=inputs.folder("candidate_pages"),
        world=inputs.folder("world"),
        settings=inputs.profile.answerable,
    )


QUESTIONS = [extracted_questions, screened_questions, removed_sources, answerable_questions]
