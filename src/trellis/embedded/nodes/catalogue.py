# SPDX-License-Identifier: Apache-2.0
"""The GPU models that are known by name: what a fleet file need not repeat. Facts, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Model:
    """`product` is what NVML calls it; `memory` is what it reports of it."""

    product: str
    device: str
    architecture: str
    compute: str
    memory: str
    multiprocessors: int
    slices: int
    """Of its memory, for MIG. 0: it cannot be cut."""


MODELS = {
    "A100-SXM4-40GB": Model("NVIDIA A100-SXM4-40GB", "20b0", "Ampere", "8.0.0", "40960Mi", 108, 8),
    "A100-SXM4-80GB": Model("NVIDIA A100-SXM4-80GB", "20b2", "Ampere", "8.0.0", "81920Mi", 108, 8),
    "A10": Model("NVIDIA A10", "2236", "Ampere", "8.6.0", "23028Mi", 72, 0),
    "T4": Model("Tesla T4", "1eb8", "Turing", "7.5.0", "15360Mi", 40, 0),
    "L4": Model("NVIDIA L4", "27b8", "Ada Lovelace", "8.9.0", "23034Mi", 58, 0),
    "L40S": Model("NVIDIA L40S", "26b9", "Ada Lovelace", "8.9.0", "46068Mi", 142, 0),
    "H100-SXM5-80GB": Model("NVIDIA H100 80GB HBM3", "2330", "Hopper", "9.0.0", "81559Mi", 132, 8),
    "H200-SXM5-141GB": Model("NVIDIA H200", "2335", "Hopper", "9.0.0", "143771Mi", 132, 8),
    "B200": Model("NVIDIA B200", "2901", "Blackwell", "10.0.0", "183359Mi", 148, 8),
    "GB200": Model("NVIDIA GB200", "2941", "Blackwell", "10.0.0", "189471Mi", 152, 8),
    "GB300": Model("NVIDIA GB300", "31c2", "Blackwell", "10.3.0", "284208Mi", 152, 8),
}


def model(name: str, memory: str = "", device: str = "") -> Model:
    """The model of that name; one that nobody knows is called so and has the memory given."""
    known = MODELS.get(name)
    if known is None:
        return Model(f"NVIDIA {name}", device, "Unknown", "0.0.0", memory, 0, 0)
    return known
