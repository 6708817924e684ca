from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrarium.agent.rollout import Termination
from terrarium.evaluation import metrics
from tests.terrarium.evaluation.samples import rollout


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_draws_that_hold_a_correct_attempt(case):
    n, correct, k = case
    draws = list(combinations([True] * correct + [False] * (n - correct), k))
    assert metrics.pass_at_k(n, correct, k) == pytest.approx(sum(any(draw) for draw in draws) / len(draws))


@pytest.mark.parametrize(("n", "correct", "k"), [(4, 1, 5), (4, 5, 2), (4, -1, 2), (4, 2, 0)])
def test_impossible_attempts_are_refused(n, correct, k):
    with pytest.raises(ValueError, match="attempts"):
        metrics.pass_at_k(n, correct, k)


def test_any_of_first_k_looks_at_the_first_k_only():
    assert not metrics.any_of_first_k([False, False, True], 2)
    assert metrics.any_of_first_k([False, False, True], 3)
    with pytest.raises(ValueError, match="first 4"):
        metrics.any_of_first_k([True], 4)


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    # R: binom::binom.confint(hits, total, methods = "wilson")
    [(0, 12, 0.0, 0.2425), (5, 12, 0.1933, 0.6805), (12, 12, 0.7575, 1.0), (30, 60, 0.3773, 0.6227)],
)
def test_wilson_interval_against_published_values(hits, total, low, high):
    assert metrics.wilson(hits, total) == pytest.approx((low, high), abs=1e-4)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_wilson_interval_holds_the_share(case):
    total, hits = case
    low, high = metrics.wilson(hits, total)
    assert 0 <= low <= hits / total <= high <= 1


def test_an_outage_is_never_a_wrong_answer():
    rollouts = [rollout("a", True), rollout("b", False), rollout("c", None, Termination.TOOL_OUTAGE)]
    assert metrics.accuracy(rollouts) == metrics.Share(1, 2)
    assert metrics.attempts_by_question(rollouts) == {"a": (1, 1), "b": (0, 1)}


def test_no_answer_is_a_wrong_answer():
    assert metrics.accuracy([rollout("a", False, Termination.NO_ANSWER)]) == metrics.Share(0, 1)


def test_browse_ratio_pools_calls_and_its_mean_pools_rollouts():
    rollouts = [rollout("a", True, searches=1, visits=3), rollout("b", True, searches=4, visits=0), rollout("c", True, searches=0, visits=0)]
    assert metrics.browse_ratio(rollouts) == pytest.approx(3 / 8)
    assert metrics.mean_browse_ratio(rollouts) == pytest.approx((0.75 + 0.0) / 2)
    assert metrics.browse_ratio([]) is None


def test_mean_pass_at_k_leaves_out_questions_with_too_few_attempts():
    assert metrics.mean_pass_at_k([(1, 4), (0, 4), (1, 1)], 2) == pytest.approx((0.5 + 0.0) / 2)
    assert metrics.mean_pass_at_k([(1, 1)], 2) is None
