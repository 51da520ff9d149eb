# SPDX-License-Identifier: Apache-2.0
"""Changing: apply on both sides, diff, patches, labels, replace, edit, delete."""

from __future__ import annotations

from tests.conformance.clients.story import Kubectl, Story


def config(**data: str) -> str:
    lines = "".join(f"  {key}: {value!r}\n" for key, value in data.items())
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\ndata:\n{lines}"


def pod(image: str, *more: str) -> str:
    containers = [("main", image), *((name, "registry.example/side:1") for name in more)]
    listed = "".join(f"  - name: {name}\n    image: {image}\n" for name, image in containers)
    return (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n"
        f"  schedulerName: nobody\n  containers:\n{listed}"
    )


STORIES = [
    Story(
        "apply on the client's side keeps what it applied last",
        Kubectl("apply -f -", config(a="1", b="2")),
        Kubectl("apply -f -", config(a="1", b="2")),
        Kubectl("diff -f -", config(a="1", c="3")),
        Kubectl("apply -f - --dry-run=server", config(a="1", c="3")),
        Kubectl("apply -f -", config(a="1", c="3")),
        Kubectl("diff -f -", config(a="1", c="3")),
        "apply view-last-applied configmap cm",
        "get configmap cm -o jsonpath={.data}",
        Kubectl("apply -f -", pod("registry.example/web:1")),
        Kubectl("apply -f -", pod("registry.example/web:2")),
        Kubectl("apply -f -", pod("registry.example/web:2", "side")),
        "get pod p -o jsonpath={.spec.containers[*].image}",
    ),
    Story(
        "apply on the server's side knows owners",
        Kubectl("apply --server-side -f -", config(a="1", b="2")),
        Kubectl("apply --server-side -f -", config(a="1", b="2")),
        Kubectl("apply --server-side --field-manager=other -f -", config(a="9")),
        Kubectl("apply --server-side --field-manager=other --force-conflicts -f -", config(a="9")),
        Kubectl("diff --server-side -f -", config(a="1", b="2")),
        Kubectl("diff --server-side --force-conflicts -f -", config(a="1", b="2")),
        Kubectl("apply --server-side -f -", config(b="2")),
        "get configmap cm -o yaml --show-managed-fields",
        Kubectl("apply -f -", config(a="1", z="26")),
        Kubectl("apply --server-side -f -", config(a="1", z="27")),
        "get configmap cm -o yaml --show-managed-fields",
    ),
    Story(
        "apply prunes what a file no longer holds",
        Kubectl(
            "apply --prune -l set=one --prune-allowlist=core/v1/ConfigMap -f -",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: {set: one}}\n---\n"
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y, labels: {set: one}}\n",
        ),
        Kubectl(
            "apply --prune -l set=one --prune-allowlist=core/v1/ConfigMap -f -",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: {set: one}}\n",
        ),
        "get configmaps -l set=one -o name",
    ),
    Story(
        "patches of every type change what they say",
        Kubectl("create -f -", pod("registry.example/web:1")),
        "patch pod p -p "
        '\'{"spec":{"containers":[{"name":"main","image":"registry.example/web:2"}]}}\'',
        'patch pod p --type=merge -p \'{"metadata":{"labels":{"a":"b"}}}\'',
        'patch pod p --type=json -p \'[{"op":"replace","path":"/metadata/labels/a","value":"c"}]\'',
        'patch pod p --type=json -p \'[{"op":"remove","path":"/metadata/labels/z"}]\'',
        'patch pod p --type=json -p \'[{"op":"test","path":"/metadata/name","value":1}]\'',
        "patch pod p -p '{}'",
        'patch pod p -p \'{"spec":{"restartPolicy":"Never"}}\'',
        "patch pod p --type=nothing -p '{}'",
        "patch pod none -p '{}'",
        "get pod p -o yaml --show-managed-fields",
    ),
    Story(
        "labels and annotations are set, replaced and taken away",
        "create configmap cm",
        "label configmap cm a=1 b=2",
        "label configmap cm a=9",
        "label configmap cm a=9 --overwrite",
        "label configmap cm b-",
        "label configmap cm --list",
        "label configmaps --all all=yes --field-selector=metadata.name=cm",
        "label configmap cm 'bad key=1'",
        "label configmap cm ok=bad/value",
        "annotate configmap cm note='a b c'",
        "annotate configmap cm note=other --overwrite --resource-version=1",
        "annotate configmap cm note-",
        "get configmap cm -o yaml",
    ),
    Story(
        "objects are replaced and edited",
        Kubectl("create -f -", config(a="1")),
        Kubectl("replace -f -", config(a="2")),
        "get configmap cm -o jsonpath={.data.a}",
        Kubectl("replace --force -f -", config(a="3")),
        Kubectl("replace -f -", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: none}\n"),
        Kubectl("edit configmap cm", edit='s/a: "3"/a: "4"/'),
        Kubectl("edit configmap cm", edit="s/nothing//"),
        "get configmap cm -o jsonpath={.data.a}",
        Kubectl("create -f -", pod("registry.example/web:1")),
        Kubectl("edit pod p", edit="s/web:1/web:2/"),
        "set image pod/p main=registry.example/web:3",
        "get pod p -o jsonpath={.spec.containers[0].image}",
    ),
    Story(
        "deletion takes one, some or all",
        "create configmap one",
        "create configmap two",
        "create configmap three",
        "label configmap one two pick=me",
        "delete configmap one --dry-run=server",
        "delete configmap -l pick=me",
        "delete configmaps --all --field-selector=metadata.name!=kube-root-ca.crt",
        Kubectl("create -f -", pod("registry.example/web:1")),
        "delete pod p --grace-period=0 --force",
        "delete configmaps",
        "delete namespace default",
    ),
]
