"""The IO manager that refuses: nothing is pickled between steps, and an asset without a value is no error."""

from __future__ import annotations

import dagster as dg

from resources.io import refusing_io_manager


@dg.asset
def returns_rows() -> list[int]:
    """What would be pickled elsewhere."""
    return [1, 2]


@dg.asset
def returns_nothing() -> None:
    """An asset as ours are."""


@dg.asset
def reads(returns_nothing) -> None:  # type: ignore[no-untyped-def]
    """Reads its parent through Dagster."""


def _run(*assets: dg.AssetsDefinition) -> dg.ExecuteInProcessResult:
    return dg.materialize(list(assets), resources={"io_manager": refusing_io_manager}, raise_on_error=False, instance=dg.DagsterInstance.ephemeral())


def test_a_value_is_refused_with_the_asset_named() -> None:
    result = _run(returns_rows)
    assert not result.success
    assert "nothing is pickled. Asset: returns_rows" in str(result.failure_data_for_node("returns_rows"))


def test_an_asset_without_a_value_passes() -> None:
    assert _run(returns_nothing).success


def test_a_parent_cannot_be_loaded() -> None:
    result = _run(returns_nothing, reads)
    assert "nothing is pickled. Asset: returns_nothing" in str(result.failure_data_for_node("reads"))
