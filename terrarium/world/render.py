"""Results as text for the policy: the one place where records become words. Compact: a small model's context holds a few hits.

Status is always said; a failure never reads like an empty result.
"""

from __future__ import annotations

from collections.abc import Sequence

from terrarium.world.tools import SearchResult, Status, VisitResult


def render_search(results: Sequence[SearchResult]) -> str:
    """Hits as title, address and snippet, each query apart; a page that an earlier query of the call gave is named only once."""
    shown: set[str] = set()
    return "\n\n".join(_search(result, shown, len(results) > 1) for result in results)


def _search(result: SearchResult, shown: set[str], several: bool) -> str:
    if result.status is Status.FAILED:
        body = f"Search failed: {result.error or 'no reason given'}"
    elif not result.hits:
        body = f"No search results ({result.error})." if result.error else "No search results."
    else:
        new = [hit for hit in result.hits if hit.page_id not in shown]
        shown.update(hit.page_id for hit in new)
        body = "\n".join(f"{number}. {hit.title}\n{hit.url}\n{hit.snippet}" for number, hit in enumerate(new, start=1)) or "Only pages listed above."
    return f"Results for: {result.query.strip()}\n{body}" if several else body


def render_visit(results: Sequence[VisitResult]) -> str:
    """Title and evidence of each page; its summary where the evidence does not hold it."""
    return "\n\n".join(_visit(result, len(results) > 1) for result in results)


def _visit(result: VisitResult, several: bool) -> str:
    if result.status is Status.FAILED:
        return f"Visit of {result.url} failed: {result.error or 'no reason given'}"
    if result.status is Status.UNKNOWN_PAGE:
        return f"Unknown page: {result.url}"
    lines = [f"{result.title} ({result.url})" if several else result.title]
    about = result.summary.rstrip("…")
    if about and about not in result.evidence:
        lines.append(result.summary)
    if result.evidence:
        lines.append(result.evidence)
    return "\n".join(line for line in lines if line)
