# SPDX-License-Identifier: Apache-2.0
"""Objects to bytes and back. What cannot be read is one clear error, without the content."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from trellis.kube.errors import Unreadable, clipped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    Body: TypeAlias = msgspec.Struct | Mapping[str, Any] | Sequence[Any] | bytes

T = TypeVar("T")

JSON = "application/json"
_encoder = msgspec.json.Encoder()


def encode(body: Body) -> bytes:
    """Bytes go as they are: a template of the user's keeps the fields that we do not know."""
    return body if isinstance(body, bytes) else _encoder.encode(body)


def decode(content: bytes | msgspec.Raw, into: type[T], what: str) -> T:
    """The content as that type; `bytes` keeps it as it came. `what` names it in the error."""
    if into is bytes:
        return cast("T", bytes(content))
    try:
        return cast("T", decoder(cast("Any", into)).decode(content))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Unreadable(f"{what}: {_described(error, len(content))}") from None


@lru_cache(maxsize=256)
def decoder(into: Any) -> msgspec.json.Decoder[Any]:
    """Kept, because building one costs as much as thousands of decodings."""
    return msgspec.json.Decoder(into)


def _described(error: Exception, length: int) -> str:
    size = f"an answer of {length} bytes"
    if isinstance(error, msgspec.ValidationError):
        return f"{size} is not of the expected shape: {clipped(str(error), 200)}"
    if isinstance(error, RecursionError):
        return f"{size} is nested too deeply to be an object"
    return f"{size} is not JSON, or not all of it"
