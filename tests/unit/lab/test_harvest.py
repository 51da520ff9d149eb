# SPDX-License-Identifier: Apache-2.0
"""How what a lab says is written to the files that `embedded` reads."""

from __future__ import annotations

import json
import lzma

from trellis.lab import openapi, resources
from trellis.lab.harvest import FOLDER

APPS = {"group": "apps", "version": "v1", "resources": [{"name": "a"}, {"name": "a/status"}]}
CORE = {"group": "", "version": "v1", "resources": [{"name": "pods"}]}


def test_resources_are_written_a_line_each() -> None:
    data = resources.written("1.2.3", [CORE, APPS], {"minor": "2"})
    assert json.loads(data) == {
        "kubernetes": "1.2.3",
        "version": {"minor": "2"},
        "served": [CORE, APPS],
    }
    assert b'\n{"name":"a"},\n{"name":"a/status"}]}' in data


def test_columns_are_written_once() -> None:
    name, age = {"name": "Name"}, {"name": "Age"}
    data = resources.written_columns({"/api/v1/a": [name, age], "/api/v1/b": [name]})
    assert json.loads(data) == {
        "columns": [name, age],
        "resources": {"/api/v1/a": [0, 1], "/api/v1/b": [0]},
    }


def test_documents_are_kept_as_they_came() -> None:
    found = json.loads(lzma.decompress(openapi.written({"api": b'{"a": 1}\n'})))
    assert found == {"api": {"a": 1}}


def test_the_files_are_where_embedded_looks() -> None:
    names = {file.name for file in FOLDER.iterdir()}
    assert {"resources.json", "columns.json", "openapi.json.xz"} <= names


def test_the_model_of_a_custom_kind_has_every_subresource() -> None:
    version = openapi.definition("Zzinside", "Namespaced")["spec"]["versions"][0]
    assert set(version["subresources"]) == {"status", "scale"}
