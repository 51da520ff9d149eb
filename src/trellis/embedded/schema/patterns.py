# SPDX-License-Identifier: Apache-2.0
"""Regular expressions of schemas, with the syntax and the guarantees of Go's: linear time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@lru_cache(maxsize=1024)
def searcher(pattern: str) -> Callable[[str], bool]:
    """Tells whether a text has a match anywhere. The expression is compiled when first needed."""
    compiled: list[Any] = []

    # Names and the like come again and again, and asking the library costs more than remembering.
    @lru_cache(maxsize=256)
    def search(text: str) -> bool:
        if not compiled:
            compiled.append(_compiled(pattern))
        return compiled[0].search(text) is not None

    return search


def problem(pattern: str) -> str | None:
    """What is wrong with an expression, in the words of Go's compiler."""
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415 - most clusters never need it

    try:
        _compiled(pattern)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        return f"error parsing regexp: {_in_goes_words(said)}"
    return None


# What the library says where Go says something else.
_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "trailing \\": "trailing backslash at end of expression",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}


def _in_goes_words(said: bytes | str) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    what, _, where = text.partition(": ")
    return f"{_WORDS.get(what, what)}: `{where}`"


def _compiled(pattern: str) -> Any:
    import re2  # noqa: PLC0415

    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)
