# SPDX-License-Identifier: Apache-2.0
"""What the real server's client says of an HTTP answer that is no success. Pure."""

from __future__ import annotations

from trellis.embedded.fielderrors import shown

_LONGEST_TEXT = 2048
_SAID = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: (
        "the server was unable to return a response in the time allotted, but may still be"
        " processing the request"
    ),
}
# For these the server's own words are kept.
_ITS_OWN_WORDS = frozenset({403, 406, 415})


def answer_problem(status: int, content_type: str, answer: bytes) -> str:
    """Empty if there is nothing to complain of yet."""
    if 200 <= status <= 206:
        if answer:
            return ""
        return f"0-length response with status code: {status} and content type: {content_type}"
    if status in _SAID:
        return _SAID[status]
    text = "unknown"
    if not content_type or content_type.startswith("text/"):
        text = answer[:_LONGEST_TEXT].decode(errors="replace").strip()
    if status in _ITS_OWN_WORDS:
        return text
    if status >= 500:
        return f"an error on the server ({shown(text)}) has prevented the request from succeeding"
    return f"the server responded with the status code {status} but did not return more information"
