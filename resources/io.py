"""The IO manager that refuses: data are files of artifacts, nothing is pickled between steps."""

from __future__ import annotations

from typing import Any, NoReturn

import dagster as dg

_WHY = "Assets return `None` or `MaterializeResult` and read their parents through the ArtifactStore; nothing is pickled. Asset: "


class RefusingIOManager(dg.IOManager):
    """The default IO manager of the project. `None` (an asset without a value) passes, anything else is an error."""

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        if obj is not None:
            raise dg.DagsterInvariantViolationError(_WHY + (context.asset_key.to_user_string() if context.has_asset_key else context.step_key))

    def load_input(self, context: dg.InputContext) -> NoReturn:
        raise dg.DagsterInvariantViolationError(_WHY + context.asset_key.to_user_string())


@dg.io_manager
def refusing_io_manager() -> RefusingIOManager:
    """For `resources={"io_manager": refusing_io_manager}`."""
    return RefusingIOManager()
