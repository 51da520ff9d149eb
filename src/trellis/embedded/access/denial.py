# SPDX-License-Identifier: Apache-2.0
"""The words in which a request is refused for want of permission."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trellis.embedded.fielderrors import shown
from trellis.embedded.refusals import Refusal, forbidden

if TYPE_CHECKING:
    from trellis.embedded.asking import Attributes

# A message is never to be taken for a page by a browser.
_HARMLESS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def denial(wanted: Attributes, reason: str = "") -> Refusal:
    why = _sentence(wanted).translate(_HARMLESS)
    if reason:
        why += f": {reason}"
    if not wanted.resource:
        return Refusal(403, "Forbidden", f"forbidden: {why}", {})
    return forbidden(wanted.group, wanted.resource, wanted.name, why)


def _sentence(wanted: Attributes) -> str:
    who = f"User {shown(wanted.user.name)} cannot {wanted.verb}"
    if not wanted.resource:
        return f"{who} path {shown(wanted.path)}"
    resource = wanted.resource
    if wanted.subresource:
        resource += f"/{wanted.subresource}"
    scope = (
        f"in the namespace {shown(wanted.namespace)}"
        if wanted.namespace
        else "at the cluster scope"
    )
    return f"{who} resource {shown(resource)} in API group {shown(wanted.group)} {scope}"
