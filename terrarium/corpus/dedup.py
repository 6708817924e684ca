"""Near-duplicates: MinHash proposes pairs, the texts themselves decide.

Two texts are copies when their word shingles mostly agree, or one holds nearly all of the other, and no figure or name stands in
one where another stands in the other: pages of one template with different facts are different pages.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import numpy as np

from terrarium.rewards.text import CJK, tidy

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHINGLE = 5
JACCARD = 0.7
CONTAINMENT = 0.85
PERMUTATIONS = 128
# 32 bands of 4 rows propose a pair of similarity 0.5 with probability 0.87, of 0.7 with 0.9998.
_BANDS, _ROWS = 32, 4
# Fewer shared words than this are a quotation, and contain nothing worth calling a copy.
_LEAST_CONTAINED = 30
# A later text may be this much longer than the earlier one it contains and still add nothing worth a page.
_LONGEST_CONTAINER = 1.6

_TOKEN = re.compile(rf"[{CJK}]|\d+(?:[.,:/-]\d+)*|[^\W\d_{CJK}]+(?:'[a-z]+)?")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|[。！？]|\n+|\s\|\s")
# Lines that differ between two copies of one page without a different fact.
_NOISE = re.compile(
    r"last (?:edited|updated|modified|changed)|retrieved|accessed|cached|\bviews?\b|copyright|©|page \d+ of|printed|更新于|浏览", re.IGNORECASE
)
_MULTIPLIERS = np.array([pow(0x9E3779B97F4A7C15, power, 1 << 64) for power in range(SHINGLE)], dtype=np.uint64)


def near_duplicates(texts: list[str], progress: Callable[[int], None] | None = None) -> list[int]:
    """For each text the position of the one that stays: itself, or the earliest kept text it is a copy of.

    Every member of a cluster is a copy of its first text itself (chains do not drift). Callers that want the oldest page to
    stay put it first. `progress` is told how many are done.
    """
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(num_perm=PERMUTATIONS, params=(_BANDS, _ROWS))
    blank = MinHash(num_perm=PERMUTATIONS, hashfunc=int)
    hashes: dict[str, int] = {}
    first_with: dict[int, int] = {}
    kept: dict[int, NDArray[np.uint64]] = {}
    stays: list[int] = []
    for position, text in enumerate(texts):
        if progress is not None and position % 100 == 0:
            progress(position)
        tokens = _tokens(text)
        same = _hash64("\x1f".join(tokens))
        if same in first_with:
            stays.append(stays[first_with[same]])
            continue
        first_with[same] = position
        shingles = _shingles(tokens, hashes)
        if not shingles.size:
            stays.append(position)
            continue
        sketch = blank.copy()
        sketch.update_batch((shingles >> np.uint64(32)).tolist())
        proposed = sorted(other for other in index.query(sketch) if _overlap(kept[other], shingles))
        original = next((other for other in proposed if not different_facts(texts[other], text)), None)
        stays.append(position if original is None else original)
        if original is None:
            kept[position] = shingles
            index.insert(position, sketch, check_duplication=False)
    return stays


def similarity(one: str, other: str) -> tuple[float, float]:
    """Jaccard similarity of the shingles of two texts, and the share of the smaller set that the larger holds."""
    hashes: dict[str, int] = {}
    first, second = _shingles(_tokens(one), hashes), _shingles(_tokens(other), hashes)
    if not first.size or not second.size:
        return (1.0, 1.0) if _tokens(one) == _tokens(other) else (0.0, 0.0)
    shared = np.intersect1d(first, second, assume_unique=True).size
    return shared / (first.size + second.size - shared), shared / min(first.size, second.size)


def different_facts(one: str, other: str) -> bool:
    """Somewhere a figure or a name of one text stands where the other has another figure or name.

    Compared sentence by sentence and then word by word inside sentences that differ; what only one of them has is no difference.
    """
    first, second = _sentences(one), _sentences(other)
    for left, right in _replaced([key for key, _ in first], [key for key, _ in second]):
        before = _TOKEN.findall(" ".join(text for _, text in first[left]))
        after = _TOKEN.findall(" ".join(text for _, text in second[right]))
        if left.stop - left.start == right.stop - right.start and _reordered(before, after):
            return True
        for gone, come in _replaced([_folded(token) for token in before], [_folded(token) for token in after]):
            if _conflict(before[gone], after[come]):
                return True
    return False


def _tokens(text: str) -> list[str]:
    return [_folded(token) for token in _TOKEN.findall(tidy(text))]


def _hash64(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _folded(token: str) -> str:
    return token.replace(",", "") if token[0].isdigit() else token.casefold()


def _shingles(tokens: Sequence[str], hashes: dict[str, int]) -> NDArray[np.uint64]:
    """Sorted distinct 64-bit hashes of runs of five words."""
    if len(tokens) < SHINGLE:
        return np.empty(0, dtype=np.uint64)
    for token in tokens:
        if token not in hashes:
            hashes[token] = _hash64(token)
    values = np.array([hashes[token] for token in tokens], dtype=np.uint64)
    windows = np.lib.stride_tricks.sliding_window_view(values, SHINGLE)
    mixed = (windows * _MULTIPLIERS).sum(axis=1, dtype=np.uint64)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return np.unique(mixed ^ (mixed >> np.uint64(32)))


def _overlap(earlier: NDArray[np.uint64], later: NDArray[np.uint64]) -> bool:
    shared = np.intersect1d(earlier, later, assume_unique=True).size
    smaller, larger = min(earlier.size, later.size), max(earlier.size, later.size)
    if shared >= JACCARD * (earlier.size + later.size - shared):
        return True
    contained = shared >= CONTAINMENT * smaller and smaller >= _LEAST_CONTAINED
    return bool(contained and (later.size <= earlier.size or larger <= _LONGEST_CONTAINER * smaller))


def _sentences(text: str) -> list[tuple[str, str]]:
    """Sentences, each with the key by which it is compared; noise is left out."""
    found = (piece.strip() for piece in _SENTENCE.split(tidy(text)) if piece)
    return [(" ".join(_folded(token) for token in _TOKEN.findall(piece)), piece) for piece in found if piece and not _NOISE.search(piece)]


def _replaced(one: list[str], other: list[str]) -> Iterator[tuple[slice, slice]]:
    if one == other:
        return
    for tag, start, end, start_other, end_other in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag == "replace":
            yield slice(start, end), slice(start_other, end_other)


def _conflict(gone: list[str], come: list[str]) -> bool:
    """Words that stand in place of each other name different things."""
    numbers, others = {_folded(token) for token in gone if token[0].isdigit()}, {_folded(token) for token in come if token[0].isdigit()}
    if numbers and others and numbers != others:
        return True
    names, other_names = {_folded(token) for token in gone if _is_name(token)}, {_folded(token) for token in come if _is_name(token)}
    return bool(names and other_names and names != other_names)


def _reordered(before: list[str], after: list[str]) -> bool:
    """The same figures, or the same names, in another order: "3 to 2" is not "2 to 3"."""
    for kind in (lambda token: token[0].isdigit(), _is_name):
        one = [_folded(token) for token in before[1:] if kind(token)]
        other = [_folded(token) for token in after[1:] if kind(token)]
        if one != other and sorted(one) == sorted(other):
            return True
    return False


def _is_name(token: str) -> bool:
    return token[0].isupper() or not token.isascii() and bool(re.match(f"[{CJK}]", token))
