"""Where does this come from? Walks manifests and tables of a state folder and gives one answer.

    from terrarium.provenance import explain
    explain(Path(".terrarium"), "stage_3/checkpoint grpo-s1")

Nothing is written, and nothing but files is read: no Dagster, no engine, no model.
"""

from __future__ import annotations

from pathlib import Path

from terrarium.provenance.account import Account, Section, show
from terrarium.provenance.find import explain_in
from terrarium.provenance.state import State

__all__ = ["Account", "Section", "explain", "show"]


def explain(folder: Path, subject: str, verify: bool = False) -> Account:
    """The whole descent of a checkpoint or other artifact, a question, a page or a rollout.

    Args:
        folder: the state folder.
        subject: an asset ("sft_checkpoint"), an asset and its partition ("stage_3/checkpoint grpo-s1"), the folder or fingerprint of an
            artifact, a question id, a page id or any of a page's addresses, a rollout id.
        verify: of an artifact: compute all content hashes of the descent anew.

    Raises:
        TerrariumError: the folder holds no artifacts, or nothing there is called so; names what comes near.
    """
    return explain_in(State(folder), subject, verify)
