# SPDX-License-Identifier: Apache-2.0
"""Labs of a test's own, under a cache folder of its own that only shares the built binary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.cluster import LAB
from trellis.lab.build import Binary, built
from trellis.lab.components import Settings
from trellis.lab.errors import LabError
from trellis.lab.source import source

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def binary(request: pytest.FixtureRequest) -> Binary:
    if request.config.getoption("--cluster") != LAB:
        pytest.skip("about the lab itself, and this run is on another cluster")
    try:
        return built(source(request.config.getoption("--kubernetes")))
    except LabError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture
def settings(binary: Binary) -> Settings:
    return Settings(kubernetes=binary.kubernetes)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cache"
