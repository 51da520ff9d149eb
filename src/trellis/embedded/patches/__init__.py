# SPDX-License-Identifier: Apache-2.0
"""Patches: JSON patch, JSON merge patch and strategic merge patch, with the refusals of the server.

Each makes a new object of one that is there; neither that one nor the patch is changed. What the
result means, and whether it is valid, is for others to say.
"""

from trellis.embedded.patches.decoding import Decoded, decode_patch
from trellis.embedded.patches.jsonpatch import json_patch
from trellis.embedded.patches.mergepatch import merge_patch
from trellis.embedded.patches.results import not_restorable, refused_result
from trellis.embedded.patches.strategic import strategic

__all__ = [
    "Decoded",
    "decode_patch",
    "json_patch",
    "merge_patch",
    "not_restorable",
    "refused_result",
    "strategic",
]
