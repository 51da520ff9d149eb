# SPDX-License-Identifier: Apache-2.0
"""Structs read from Go as gofmt writes it."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from trellis.lab import structs
from trellis.lab.errors import LabError
from trellis.lab.gotypes import Field, Package, UnknownType, definition, fields, kinds

if TYPE_CHECKING:
    from pathlib import Path

CORE, META = "k8s.io/api/core/v1", "k8s.io/apimachinery/pkg/apis/meta/v1"
SOURCE = """
package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Phase is a word.
type Phase string

// Extra is a list of its own.
type Extra []string

type ResourceList map[Phase]resource.Quantity

// Thing is an object.
type Thing struct {
	metav1.TypeMeta `json:",inline"`
	// Standard metadata.
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	Source `json:",inline" protobuf:"bytes,2,opt,name=source"`
	Count *int32 `json:"count,omitempty" protobuf:"varint,3,opt,name=count"` // how many
	Phases []Phase `json:"phases" protobuf:"bytes,4,rep,name=phases,casttype=Phase"`
	Limits ResourceList `json:"limits,omitempty,omitzero" protobuf:"bytes,5,rep,name=limits"`
	Extra map[string]Extra `json:"extra" protobuf:"bytes,6,rep,name=extra"`
	Data []byte `json:"data" protobuf:"bytes,7,opt,name=data"`
	Seen *metav1.Time `json:"seen" protobuf:"bytes,8,opt,name=seen"`
	Hidden string `json:"-"`
}

type Source struct {
	Path string `json:"path" protobuf:"bytes,1,opt,name=path"`
}

type Nothing struct{}
"""
GENERATED = "func (m Extra) Size() (n int) {\n}\nfunc (m *Thing) Size() (n int) {\n}\n"
OBJECT_META = """
type ObjectMeta struct {
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
}
"""


def packages() -> dict[str, Package]:
    found = {CORE: Package(CORE), META: Package(META)}
    found[CORE].read(SOURCE)
    found[CORE].read(GENERATED)
    found[META].read(OBJECT_META)
    return found


def test_the_fields_of_a_struct_are_read_in_order() -> None:
    assert list(fields(packages(), CORE, "Thing")) == [
        Field(
            "metadata", 1, "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "o", "v1.ObjectMeta"
        ),
        Field("", 2, "io.k8s.api.core.v1.Source", "i", "v1.Source"),
        Field("count", 3, "i", "po", "int32"),
        Field("phases", 4, "[s", "", "[]v1.Phase"),
        Field("limits", 5, "{q", "oz", "v1.ResourceList"),
        Field("extra", 6, "{<s", "", "map[string]v1.Extra"),
        Field("data", 7, "y", "", "[]uint8"),
        Field("seen", 8, "t", "p", "v1.Time"),
    ]


def test_a_struct_without_fields_has_none() -> None:
    assert list(fields(packages(), CORE, "Nothing")) == []


def test_structs_with_a_kind_are_objects() -> None:
    assert kinds(packages(), CORE) == ["Thing"]


def test_a_type_that_is_declared_nowhere_is_an_error_that_names_it() -> None:
    found = packages()
    del found[META]
    with pytest.raises(UnknownType, match=r"metav1.ObjectMeta in k8s.io/api/core/v1"):
        list(fields(found, CORE, "Thing"))


def test_a_type_is_named_as_openapi_does() -> None:
    assert definition(CORE, "Pod") == "io.k8s.api.core.v1.Pod"


def test_names_of_imports_are_of_one_file_alone() -> None:
    found = packages()
    found[CORE].read(
        'import (\n\tmetav1 "k8s.io/elsewhere/v1"\n)\n\ntype Other struct {\n'
        '\tName string `json:"name" protobuf:"bytes,1,opt,name=name"`\n}\n'
    )
    assert next(fields(found, CORE, "Thing")).type.endswith("ObjectMeta")


def test_the_table_is_made_of_a_module_cache(tmp_path: Path) -> None:
    core = tmp_path / "k8s.io/api@v0.1.2/core/v1"
    core.mkdir(parents=True)
    (core / "types.go").write_text(SOURCE)
    (core / "generated.pb.go").write_text(GENERATED)
    (core / "types_test.go").write_text('type Broken struct {\n\tX y.Z `protobuf:"bytes,1"`\n}\n')
    (core / "register.go").write_text('const GroupName = ""\n')
    (tmp_path / "k8s.io/api@v0.1.2/core/v1alpha1").mkdir()
    meta = tmp_path / "k8s.io/apimachinery@v0.1.2/pkg/apis/meta/v1"
    meta.mkdir(parents=True)
    (meta / "types.go").write_text(OBJECT_META)
    found = structs.table(tmp_path, "v0.1.2")
    assert found["objects"] == {"v1": {"Thing": "io.k8s.api.core.v1.Thing"}}
    assert found["structs"]["io.k8s.api.core.v1.Source"] == [("path", 1, "s", "", "string")]
    assert found["structs"]["io.k8s.api.core.v1.Nothing"] == []
    packed = structs.written(found)
    assert packed == structs.written(found)
    assert json.loads(gzip.decompress(packed)) == json.loads(json.dumps(found))


def test_a_release_that_was_not_downloaded_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="make lab"):
        structs.packages(tmp_path, "v0.1.2")
