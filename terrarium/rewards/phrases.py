"""Does a sentence give one answer, and only that one? Decided by what stands around the answer, without a language model.

An answer inside a longer prediction counts when the rest is a frame ("The capital is ...", "... in 1912") and holds no second
candidate, no hedge and no negation. When in doubt, it does not count: a reward that pays for lists teaches to write lists.
"""

from __future__ import annotations

import re

from terrarium.rewards.text import CJK, fold, positions, tidy, words

_listed = str.split

_FUNCTION = frozenset(
    _listed(
        "a an the is are was were be been being it its this that these those they he she his her their there here who which  "
        "what when where whose whom how of in on at to for by from with as into since until during after before between about  "
        "around near over under and also has have had do does did can will would answer answers final correct total value  "
        "result number name named called known titled dated born died founded built opened located situated based i we my our  "
        "think believe found according so therefore thus hence then because since per each exactly approximately approx nearly  "
        "year month day date city town"
    )
)
_LINKS = frozenset(
    _listed("is are was were be by in at on of from to named called as with for since until during after before near 是 为 在 于 叫 位")
)
_REFUSALS = frozenset(
    _listed(
        "or nor not no never neither either maybe perhaps possibly might could may unclear unknown unsure uncertain cannot cant  "
        "dont isnt wasnt arent werent doesnt didnt but except unlike rather instead versus vs if unless"
    )
)
_REFUSALS_CHINESE = re.compile("不是|不|或|没有|可能|也许|未|非|还是|无法")
_FUNCTION_CHINESE = frozenset("的是在于为了和与由被从到这那其该此它他她答案最终是叫做名为位于建立成立出生年月日号个人城市答因所以根据")
_TITLES = frozenset(_listed("mr mrs ms dr prof professor sir"))
_WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}]+(?:['.][^\W_]+)*[+#]*|[,;/|、，；\n:：—]|\s-\s")
_BREAKS = frozenset(",;/|、，；\n")
_HEAD_NOUN = re.compile(r"\b(?:which|what)\s+(?:(?:[a-z]+)\s+)?([a-z]+)\b")


def gives_only(prediction: str, answer: str, question: str = "") -> bool:
    """The prediction is a sentence whose one answer is `answer`; both as written, `question` gives words that may be repeated."""
    target = words(answer)
    if not target or not any(char.isalnum() for char in answer):
        return False
    spelled = _WORD.findall(re.sub(r"\s*[(（][^)）]*[)）]", " ", tidy(prediction)))
    spelled = [token for token in spelled if token not in (":", "：", "—") and token.strip() != "-"]
    plain = [(words(token) or [""])[0] if token not in _BREAKS else token for token in spelled]
    places = positions(target, plain)
    if not places or len(spelled) > 80:
        return False
    rest = _without(plain, places, len(target))
    if _refuses(rest, prediction, answer):
        return False
    asked = set(words(question))
    lower = {fold(token) for token in re.findall(r"[a-z][\w-]*", tidy(question))}
    heads = {fold(noun) for noun in _HEAD_NOUN.findall(tidy(question)[:1].lower() + tidy(question)[1:])}
    proper = any(char.isupper() for char in answer)
    before, after = range(places[0]), range(places[-1] + len(target), len(spelled))
    between = [index for index in rest if places[0] < index < places[-1]]
    return _frame_before(spelled, plain, before, asked, lower, heads, proper) and _frame_after(
        spelled, plain, [*between, *after], places[-1] + len(target), asked, lower, heads, proper
    )


def _without(plain: list[str], places: list[int], length: int) -> dict[int, str]:
    covered = {index for place in places for index in range(place, place + length)}
    return {index: token for index, token in enumerate(plain) if index not in covered}


def _refuses(rest: dict[int, str], prediction: str, answer: str) -> bool:
    if any(
        token in _REFUSALS or token.endswith("nt") and token[:-2] in ("is", "was", "are", "were", "do", "does", "did", "ca", "wo")
        for token in rest.values()
    ):
        return True
    return bool(_REFUSALS_CHINESE.search(tidy(prediction).replace(tidy(answer), " ")))


def _known(token: str, asked: set[str]) -> bool:
    return token in _FUNCTION or token in asked or token in _FUNCTION_CHINESE or token[:1].isdigit() or not token


def _frame_before(spelled: list[str], plain: list[str], span: range, asked: set[str], lower: set[str], heads: set[str], proper: bool) -> bool:
    """The words before the answer lead up to it: all known, or plain words that end in a linking word."""
    if not span:
        return True
    last = span[-1]
    if spelled[last] in _BREAKS:
        last_words = [index for index in span if spelled[index] not in _BREAKS]
        # "In 1912, Anna Holt" or "Answer:\nParis"
        return all(_known(plain[index], asked) for index in last_words) and bool(last_words) and not _named(spelled, last_words, lower)
    if plain[last] in _TITLES and last == span[0]:
        return True
    linked = plain[last] in _LINKS or plain[last] in _FUNCTION or plain[last] in heads or plain[last] in _FUNCTION_CHINESE or plain[last] in _TITLES
    if not linked and not spelled[last].isascii() and all(token in _FUNCTION_CHINESE or token in asked for token in plain[: last + 1]):
        linked = True
    if not linked:
        return False
    strange = [index for index in span if spelled[index] not in _BREAKS and not _known(plain[index], asked)]
    if any(spelled[index][:1].isupper() and index != span[0] for index in strange) or any(
        len(token) == 1 and not token.isascii() for token in map(plain.__getitem__, strange)
    ):
        return False
    breaks = sum(spelled[index] in _BREAKS for index in span)
    return not strange or (breaks == 0 and len(strange) <= 6 and (proper or plain[last] in _LINKS))


def _frame_after(
    spelled: list[str], plain: list[str], span: list[int], first: int, asked: set[str], lower: set[str], heads: set[str], proper: bool
) -> bool:
    """The words after the answer go on about it: they begin with a function word, a clause or the noun that was asked for."""
    span = [index for index in span if index >= first or spelled[index] not in _BREAKS]
    if not span:
        return True
    start = span[0]
    if spelled[start] in _BREAKS:
        following = [index for index in span if spelled[index] not in _BREAKS]
        if not following:
            return True
        if plain[following[0]] not in _FUNCTION or plain[following[0]] in ("and", "also") or plain[following[0]] in _FUNCTION_CHINESE:
            return False
    elif plain[start] in ("and", "also", "和", "与") or not (plain[start] in _FUNCTION or plain[start] in heads or plain[start] in _FUNCTION_CHINESE):
        return False
    if any(spelled[index] in _BREAKS for index in span[1:]):
        return False
    strange = [index for index in span if spelled[index] not in _BREAKS and not _known(plain[index], asked)]
    if any(spelled[index][:1].isupper() or not spelled[index].isascii() for index in strange):
        return False
    return not strange or (proper and len(strange) <= 6)


def _named(spelled: list[str], span: list[int], lower: set[str]) -> bool:
    return any(spelled[index][:1].isupper() and fold(spelled[index]) not in lower | _FUNCTION for index in span)
