"""The sealed world: page store, hybrid index, and the two tools over them.

Nothing here fetches a page or asks a live search engine, and nothing makes questions.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from terrarium.world.world import World

__all__ = ["open_world"]


def open_world(path: str | Path, say: Callable[[str], None] | None = None) -> World:
    """Open the world in the folder of a `world` artifact: `search(queries, k)`, `visit(urls, goal)`, `snapshot`, `for_question(question)`.

    Waits while another process has the index open; `say` (by default the log) hears of that.

    Raises:
        TerrariumError: a part is missing or is not the one that was sealed.
        Outage: the engine did not start.
    """
    # What only reads settings of this package should not pay for the engines.
    from terrarium.world import world

    return world.open_world(Path(path)) if say is None else world.open_world(Path(path), say)
