# SPDX-License-Identifier: Apache-2.0
"""`trellis crds`: the CustomResourceDefinitions of this version, for kubectl."""

from __future__ import annotations

from trellis.api.schema.generate import files


def crds() -> None:
    """Print the CustomResourceDefinitions: trellis crds | kubectl apply -f -"""
    print("---\n".join(text for _, text in files()), end="")
