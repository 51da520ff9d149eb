# SPDX-License-Identifier: Apache-2.0
"""A value and its schema walked together: what lies directly below, with the path errors name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import child, index, key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trellis.embedded.schema.node import Node


def below(node: Node, value: Any, path: str) -> Iterator[tuple[Node, Any, str]]:
    """Only what the schema describes."""
    if type(value) is list and node.items is not None:
        for at, each in enumerate(value):
            yield node.items, each, index(path, at)
    elif type(value) is dict:
        for name, each in value.items():
            inner = node.properties.get(name)
            if inner is not None:
                yield inner, each, child(path, name)
            elif node.additional is not None:
                yield node.additional, each, key(path, name)


def inner_nodes(node: Node) -> Iterator[Node]:
    """The nodes directly below."""
    yield from node.properties.values()
    for each in (node.items, node.additional):
        if each is not None:
            yield each
