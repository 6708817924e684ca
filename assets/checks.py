"""Gates as asset checks. A gate is computed by the craft before anything is published; here it only becomes visible.

A blocking check blocks inside its own run only, so what really stops a later run is the artifact store, which refuses what did not pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from resources.manifest import Artifact
from terrarium.job import Gate, Outcome


def check_specs(key: dg.AssetKey, gates: Sequence[str], warnings: Sequence[str]) -> list[dg.AssetCheckSpec]:
    """One check for each gate; those of severity error block what follows in the same run."""
    return [dg.AssetCheckSpec(name, asset=key, blocking=name in gates, description=_words(name)) for name in (*gates, *warnings)]


def tell_failed_gates(context: dg.AssetExecutionContext, key: dg.AssetKey, failure: dg.Failure) -> None:
    """Show the gates of work that was refused. A step that fails returns no check results, so they are reported beside it."""
    told = failure.metadata.get("gates")
    gates = told.value if isinstance(told, dg.JsonMetadataValue) else None
    for gate in map(Gate.model_validate, gates if isinstance(gates, list) else []):
        context.log_event(
            dg.AssetCheckEvaluation(
                asset_key=key,
                check_name=gate.name,
                passed=gate.passed,
                severity=_severity(gate),
                description=gate.detail or None,
                metadata=dict(gate.figures),
                blocking=gate.severity == "error",
            )
        )


def check_results(artifact: Artifact, gates: Sequence[str], warnings: Sequence[str]) -> list[dg.AssetCheckResult]:
    """What the manifest says of each declared gate; a stage that was passed through has nothing to check and says so."""
    declared = [*gates, *warnings]
    if artifact.passed_through:
        return [dg.AssetCheckResult(passed=True, check_name=name, description=f"Passed through: {artifact.passed_through}.") for name in declared]
    computed = {gate.name: gate for gate in artifact.manifest.gates}
    return [_result(name, computed.get(name)) for name in declared]


def disagreement(outcome: Outcome, gates: Sequence[str], warnings: Sequence[str]) -> str | None:
    """How computed gates differ from declared ones, in words. A warning may be left out where there is nothing to compare."""
    computed = {gate.name for gate in outcome.gates}
    missing, extra = sorted(set(gates) - computed), sorted(computed - {*gates, *warnings})
    said = [f"leaves out {', '.join(missing)}" if missing else "", f"computes {', '.join(extra)}, which is not declared" if extra else ""]
    return " and ".join(part for part in said if part) or None


def _result(name: str, gate: Gate | None) -> dg.AssetCheckResult:
    if gate is None:
        return dg.AssetCheckResult(passed=True, check_name=name, description="There was nothing to compare with.")
    return dg.AssetCheckResult(
        passed=gate.passed, check_name=name, severity=_severity(gate), description=gate.detail or None, metadata=dict(gate.figures)
    )


def _severity(gate: Gate) -> dg.AssetCheckSeverity:
    return dg.AssetCheckSeverity.WARN if gate.severity == "warn" else dg.AssetCheckSeverity.ERROR


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize() + "."
