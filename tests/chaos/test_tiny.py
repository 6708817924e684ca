"""Two rounds of chaos on the tiny graph: everything killed at once, as by a power cut, and a trainer killed in the middle of its updates."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.hurts import Victim, plan_of
from tests.chaos.reference import Reference, reference_of
from tests.chaos.round import play
from tests.chaos.setting import Setting, tiny_setting

pytestmark = [
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes in /proc"),
]


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    return tiny_setting(tmp_path_factory.mktemp("chaos"))


@pytest.fixture(scope="module")
def reference(setting: Setting) -> Reference:
    return reference_of(setting, jobs=())


@pytest.mark.parametrize(("seed", "victim"), [(1, "everything"), (2, "trainer")])
def test_the_tiny_graph_ends_as_if_nothing_had_happened(setting: Setting, reference: Reference, seed: int, victim: Victim) -> None:
    plan = plan_of(seed, reference.lived, reference.jobs, [victim])
    result = play(setting, plan, reference)
    print(f"{victim} at {plan.told}: {result.seconds:.0f} s, {result.starts} starts")
    assert result.differences == []
    assert result.met
