# SPDX-License-Identifier: Apache-2.0
"""Functions over strings: CEL's extension for them, and regular expressions."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from trellis.cel.formatting import formatted, quoted
from trellis.cel.operators import weight
from trellis.cel.overloads import Library, traversal
from trellis.cel.problems import BudgetSpent, EvaluationProblem

STRINGS = Library()
# What Go's strings.TrimSpace takes off.
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
_SPACE += "\u200a\u2028\u2029\u202f\u205f\u3000"
# Each match costs us far more than the server's price for it.
_MATCH_LIMIT = 50_000
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}


def _out_of_range(place: int) -> EvaluationProblem:
    return EvaluationProblem(f"index out of range: {place}")


def _char_at(text: str, place: int) -> str:
    if not 0 <= place <= len(text):
        raise _out_of_range(place)
    return text[place : place + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if start < 0:
        raise _out_of_range(start)
    return text.find(part, start)


def _last_index_of(text: str, part: str, end: int | None = None) -> int:
    if not part:
        return len(text) if end is None else end
    if end is None:
        return text.rfind(part)
    if end < 0:
        raise _out_of_range(end)
    return -1 if end >= len(text) else text.rfind(part, 0, end + len(part))


def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is not None and start > end:
        raise EvaluationProblem(f"invalid substring range. start: {start}, end: {end}")
    for place in (start, len(text) if end is None else end):
        if not 0 <= place <= len(text):
            raise _out_of_range(place)
    return text[start:end]


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    return text.replace(old, new, count)


def _split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    if separator:
        return text.split(separator, count - 1 if count > 0 else -1)
    if count < 0 or count >= len(text):
        return list(text)
    return [*text[: count - 1], text[count - 1 :]]


def _join(items: list[Any], separator: str = "") -> str:
    for item in items:
        if type(item) is not str:
            raise EvaluationProblem(f"join: invalid input: {item}")
    return separator.join(items)


def _replace_cost(text: str, old: str, new: str, _count: int = -1) -> int:
    rounds = len(text) // len(old) if old else len(text) + 1
    return (2 * (len(text) + rounds * len(new)) + 9) // 10


def _join_cost(items: list[Any], separator: str = "") -> int:
    length = sum(len(item) for item in items if type(item) is str)
    return (2 * (length + len(items) * len(separator)) + 9) // 10


@lru_cache(maxsize=256)
def pattern(text: str) -> Any:
    # RE2: linear time, whatever the pattern; and what the server's Go would accept.
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error as refused:
        said = refused.args[0] if refused.args else ""
        why = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        raise EvaluationProblem(f"error parsing regexp: {why}") from None


def _matches(text: str, expression: str) -> bool:
    return pattern(expression).search(text) is not None


def _find(text: str, expression: str) -> str:
    found = pattern(expression).search(text)
    return found.group(0) if found else ""


def _find_all(text: str, expression: str, limit: int = -1) -> list[str]:
    found: list[str] = []
    for one in pattern(expression).finditer(text):
        if 0 <= limit <= len(found):
            break
        if len(found) == _MATCH_LIMIT:
            raise BudgetSpent
        found.append(one.group(0))
    return found


def _regex_cost(text: str, expression: str, _limit: int = -1) -> int:
    return ((len(text) + 10) // 10) * ((len(expression) + 3) // 4)


def _of_text(text: str, *_rest: Any) -> int:
    return traversal(text)


def _of_text_twice(text: str, *_rest: Any) -> int:
    return (2 * len(text) + 9) // 10


def _format_cost(text: str, args: list[Any]) -> int:
    return traversal(text) + weight(args)


STRINGS.member("charAt", "string, int -> string", _char_at)
for _more in ("", ", int"):
    STRINGS.member("indexOf", f"string, string{_more} -> int", _index_of, _of_text)
    STRINGS.member("lastIndexOf", f"string, string{_more} -> int", _last_index_of, _of_text)
    STRINGS.member("replace", f"string, string, string{_more} -> string", _replace, _replace_cost)
    STRINGS.member("split", f"string, string{_more} -> list<string>", _split, _of_text_twice)
    STRINGS.member("substring", f"string, int{_more} -> string", _substring, _of_text)
    STRINGS.member("findAll", f"string, string{_more} -> list<string>", _find_all, _regex_cost)
STRINGS.member("lowerAscii", "string -> string", lambda text: text.translate(_LOWER), _of_text)
STRINGS.member("upperAscii", "string -> string", lambda text: text.translate(_UPPER), _of_text)
STRINGS.member("trim", "string -> string", lambda text: text.strip(_SPACE), _of_text)
STRINGS.member("join", "list<string> -> string", _join, _join_cost)
STRINGS.member("join", "list<string>, string -> string", _join, _join_cost)
STRINGS.member("format", "string, list<dyn> -> string", formatted, _format_cost)
STRINGS.function("strings.quote", "string -> string", quoted, _of_text)
STRINGS.function("matches", "string, string -> bool", _matches, _regex_cost)
STRINGS.member("matches", "string, string -> bool", _matches, _regex_cost)
STRINGS.member("find", "string, string -> string", _find, _regex_cost)
