"""Figures of a training step."""

from __future__ import annotations

import dataclasses

import pytest

from terrarium.agent.rollout import Termination
from terrarium.rl.curve import step_figures
from tests.terrarium.rl.conftest import make_rollout


def test_figures_of_two_groups_with_an_outage() -> None:
    right = make_rollout("a", [1, 2], [[3, 4], [5]], True, searches=2, visits=1)
    wrong = make_rollout("a", [1, 2], [[3], [6]], False, searches=1, visits=0, termination=Termination.ANSWERED_WHEN_FORCED)
    silent = make_rollout("b", [1], [[3]], False, answer=None, termination=Termination.NO_ANSWER, searches=0, visits=0)
    silent = dataclasses.replace(silent, turns=(dataclasses.replace(silent.turns[0], malformed="no call"),))
    lost = make_rollout("b", [1], [], None)
    figures = step_figures([[right, wrong], [silent, lost]])
    assert (figures["rollouts"], figures["outages"], figures["groups"]) == (4, 1, 2)
    assert figures["groups_with_spread"] == 0.5
    assert figures["accuracy"] == figures["reward"] == pytest.approx(1 / 3)
    assert figures["tool_calls"] == pytest.approx(4 / 3)
    assert figures["browse_ratio"] == pytest.approx(1 / 4)
    assert figures["at_limit"] == figures["no_answer"] == pytest.approx(1 / 3)
    assert figures["malformed"] == pytest.approx(1 / 5)
    assert figures["ended_answered"] == pytest.approx(1 / 3)
    assert figures["length"] == pytest.approx((8 + 7 + 2) / 3)


def test_a_step_of_outages_alone_has_no_accuracy() -> None:
    figures = step_figures([[make_rollout("a", [1], [], None)] * 2])
    assert figures["outages"] == 2
    assert "accuracy" not in figures
