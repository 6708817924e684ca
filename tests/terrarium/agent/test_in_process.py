"""The in-process policy against the plainest way of sampling: the whole context again for each token."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from terrarium.agent.policies import Request, Sample, Sampling, TransformersPolicy
from terrarium.agent.policies.in_process import draw


@pytest.fixture(scope="module")
def policy(tiny_model: Path) -> TransformersPolicy:
    return TransformersPolicy(tiny_model, "tiny", "float32")


def same_as_plain(sample: Sample, folder: Path, request: Request, sampling: Sampling, stops: set[int]) -> bool:
    """Whether ids and log-probabilities are those of sampling without any cache or batch."""
    model = AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32).eval()
    noise = random.Random(sampling.noise_seed(request.rollout_id, request.turn))
    ids: list[int] = []
    logprobs: list[float] = []
    while len(ids) < request.max_tokens and not (ids and ids[-1] in stops):
        with torch.inference_mode():
            logits = model(torch.tensor([[*request.context, *ids]])).logits[:, -1].float()
        drawn, logprob = draw(logits, torch.tensor([noise.random()]), sampling)
        ids.append(int(drawn))
        logprobs.append(float(logprob))
    return list(sample.ids) == ids and list(sample.logprobs) == pytest.approx(logprobs, abs=1e-5)


def test_three_turns_of_a_ragged_batch_equal_plain_sampling(policy: TransformersPolicy, tiny_model: Path) -> None:
    sampling = Sampling(temperature=1.0, seed=3)
    stops = policy._stops
    rng = random.Random(0)
    prompt = [rng.randrange(3, 250) for _ in range(12)]
    contexts = {f"r{row}": prompt + [rng.randrange(3, 250) for _ in range(row * 3 + 1)] for row in range(6)}
    for turn in range(3):
        # A rollout leaves after each turn, from the front, so slots have to move.
        requests = [Request(name, turn, list(context), 5 + 4 * row) for row, (name, context) in enumerate(contexts.items())]
        samples = policy.sample(requests, sampling)
        for request, sample in zip(requests, samples, strict=True):
            assert same_as_plain(sample, tiny_model, request, sampling, stops)
            assert len(sample.ids) == len(sample.logprobs)
            contexts[request.rollout_id] += [*sample.ids, *(rng.randrange(3, 250) for _ in range(rng.randrange(1, 30)))]
        gone = next(iter(contexts))
        policy.forget([gone])
        del contexts[gone]
    policy.forget(contexts)


def test_the_last_rollout_to_end_frees_the_caches_memory(policy: TransformersPolicy) -> None:
    policy.sample([Request("a", 0, list(range(5, 25)), 4), Request("b", 0, list(range(5, 30)), 4)], Sampling())
    policy.forget(["a"])
    assert policy._cache.keys[0].numel() > 0
    policy.forget(["b"])
    assert sum(tensor.numel() for tensor in (*policy._cache.keys, *policy._cache.values)) == 0


def test_logprobs_are_those_of_the_model_at_the_temperature(policy: TransformersPolicy, tiny_model: Path) -> None:
    context = list(range(5, 25))
    [sample] = policy.sample([Request("a", 0, context, 8)], Sampling(temperature=0.7))
    policy.forget(["a"])
    model = AutoModelForCausalLM.from_pretrained(str(tiny_model), dtype=torch.float32).eval()
    with torch.inference_mode():
        logits = model(torch.tensor([[*context, *sample.ids]])).logits[0, len(context) - 1 : -1] / 0.7
    expected = torch.log_softmax(logits, -1).gather(-1, torch.tensor(sample.ids)[:, None])[:, 0]
    assert torch.allclose(torch.tensor(sample.logprobs), expected, atol=1e-4)


def test_a_changed_context_is_read_again_from_where_it_differs(policy: TransformersPolicy, tiny_model: Path) -> None:
    sampling = Sampling(temperature=0.0)
    first = list(range(5, 45))
    policy.sample([Request("a", 0, first, 4)], sampling)
    second = [*first[:20], 77, *first[21:30]]
    request = Request("a", 1, second, 6)
    assert same_as_plain(policy.sample([request], sampling)[0], tiny_model, request, sampling, policy._stops)
    policy.forget(["a"])


def test_update_takes_over_weights_and_forgets(policy: TransformersPolicy, tiny_model: Path) -> None:
    own = TransformersPolicy(tiny_model, "own", "float32")
    other = AutoModelForCausalLM.from_pretrained(str(tiny_model), dtype=torch.float32)
    context, sampling = list(range(5, 45)), Sampling(temperature=0.0)
    before = own.sample([Request("a", 0, context, 8)], sampling)[0]
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.mul_(1.7).add_(0.01)
    own.update(other)
    after = own.sample([Request("a", 0, context, 8)], sampling)[0]
    assert after.logprobs != before.logprobs
    with torch.inference_mode():
        expected = other(torch.tensor([context])).logits[0, -1].argmax()
    assert after.ids[0] == int(expected)


def test_a_resting_policy_holds_no_weights_and_update_wakes_it(tiny_model: Path) -> None:
    own = TransformersPolicy(tiny_model, "own", "float32")
    other = AutoModelForCausalLM.from_pretrained(str(tiny_model), dtype=torch.float32)
    request, sampling = Request("a", 0, list(range(5, 45)), 8), Sampling(temperature=0.0)
    before = own.sample([request], sampling)[0]
    strides = [weight.stride() for weight in own._model.parameters()]
    own.rest()
    assert sum(weight.untyped_storage().nbytes() for weight in own._model.parameters()) == 0
    assert not own._slots
    own.update(other)
    assert own.sample([request], sampling)[0] == before
    assert [weight.stride() for weight in own._model.parameters()] == strides


def test_draw_inverts_the_distribution() -> None:
    logits = torch.log(torch.tensor([[0.5, 0.0, 0.3, 0.2]])).expand(4, -1)
    ids, logprobs = draw(logits, torch.tensor([0.0, 0.49, 0.51, 0.999999]), Sampling())
    assert ids.tolist() == [0, 0, 2, 3]
    assert torch.allclose(logprobs.exp(), torch.tensor([0.5, 0.5, 0.3, 0.2]), atol=1e-6)


def test_draw_with_top_p_leaves_the_tail_out() -> None:
    logits = torch.log(torch.tensor([[0.2, 0.5, 0.3]])).expand(3, -1)
    ids, _ = draw(logits, torch.tensor([0.1, 0.6, 0.99]), Sampling(top_p=0.6))
    assert ids.tolist() == [1, 1, 2]
