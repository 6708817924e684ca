from terrarium.agent.rollout import Termination
from terrarium.evaluation.cost import live_cost
from terrarium.evaluation.scores import fixed_sample, scores_of
from tests.terrarium.evaluation.samples import question, rollout


def test_scores_split_by_capability_and_wording():
    questions = [question("a"), question("b", "statistics", wording="w2")]
    scores = scores_of([rollout("a", True), rollout("b", False)], questions, seen_wordings={"w1"})
    assert scores["accuracy"]["hits"] == 1
    assert scores["by_capability"]["direct"]["value"] == 1.0
    assert scores["by_capability"]["statistics"]["value"] == 0.0
    assert scores["by_wording"]["unseen"] == {"hits": 0, "total": 1, "value": 0.0, "low": 0.0, "high": scores["by_wording"]["unseen"]["high"]}
    assert scores["by_capability"]["enumeration"]["value"] is None


def test_outages_stand_beside_the_score():
    scores = scores_of([rollout("a", None, Termination.POLICY_OUTAGE), rollout("a", True)], [question("a")], set())
    assert scores["outages"] == 1
    assert scores["accuracy"]["total"] == 1


def test_the_sample_does_not_depend_on_order_and_takes_only_test_questions():
    questions = [question(f"q{i}", capability) for i in range(20) for capability in ("direct", "statistics")] + [question("t", split="train")]
    drawn = fixed_sample(questions, 5, seed=3)
    assert drawn == fixed_sample(list(reversed(questions)), 5, seed=3)
    assert len(drawn) == 10
    assert {q.split for q in drawn} == {"test"}
    assert drawn != fixed_sample(questions, 5, seed=4)
    assert len(fixed_sample(questions, None, seed=3)) == 40


def test_the_published_calls_cost_what_was_published():
    # LiteResearcher (arXiv 2604.17931): 45.8 M searches and 27.4 M visits would have cost $59K to $243K.
    prices = {"serper_per_1000": 1.0, "serpapi_per_1000": 5.0, "read_per_1000": 0.5}
    costs = live_cost(45_802_000, 27_418_000, prices)
    assert round(costs["serper"] / 1000, 1) == 59.5
    assert round(costs["serpapi"] / 1000, 1) == 242.7
