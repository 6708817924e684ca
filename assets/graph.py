"""The whole graph of a profile: every step of every group, in the order in which a newcomer reads them."""

from __future__ import annotations

from assets.corpus import CORPUS
from assets.evaluation import benchmarks, report_steps, starting_evaluation
from assets.lineage import Lineage
from assets.questions import QUESTIONS
from assets.sft import SFT
from assets.stages import make_stages
from assets.world import WORLD
from resources.profiles import Profile


def graph(profile: Profile) -> Lineage:
    """All steps that a profile has; how many stages there are is the most that any of its recipes has."""
    stages = profile.stages
    return Lineage(profile, [*CORPUS, *QUESTIONS, *WORLD, *SFT, benchmarks, starting_evaluation, *make_stages(stages), *report_steps(stages)])
