# SPDX-License-Identifier: Apache-2.0
"""The kinds of `grove.io/v1alpha1`: what users write, and what we keep for them."""

from __future__ import annotations

GROUP = "grove.io"
VERSION = "v1alpha1"
