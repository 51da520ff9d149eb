# SPDX-License-Identifier: Apache-2.0
"""Strategic merge patch: lists merged by key, and directives."""

from __future__ import annotations

from typing import Any

from tests.conformance.builders import IMAGE
from tests.conformance.natives import CONFIG_MAP, DEPLOYMENT, SERVICE, Native
from tests.conformance.probe import Body, Probe, probe

APP = {
    "name": "app",
    "image": IMAGE,
    "command": ["a", "b"],
    "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
    "ports": [{"containerPort": 80}, {"containerPort": 81, "name": "web"}],
}
SIDE = {"name": "side", "image": IMAGE}
TOLERATION = {"key": "a", "operator": "Exists"}
START = {
    "spec": {
        "template": {
            "spec": {
                "containers": [APP, SIDE],
                "volumes": [{"name": "v", "emptyDir": {}}],
                "tolerations": [TOLERATION],
                "nodeSelector": {"a": "1", "b": "2"},
            }
        }
    }
}


def _pod_spec(body: dict[str, Any]) -> Any:
    """What the patches are about, without the defaults around it."""
    spec = body["spec"]["template"]["spec"]
    names = ("volumes", "tolerations", "nodeSelector", "imagePullSecrets")
    shown = {name: spec[name] for name in names if name in spec}
    return {"containers": [_container(each) for each in spec["containers"]], **shown}


def _container(container: dict[str, Any]) -> dict[str, Any]:
    names = ("name", "image", "command", "env", "ports", "volumeMounts")
    return {name: container[name] for name in names if name in container}


def _deployment(*patches: dict[str, Any]) -> Body:
    return _patched(
        DEPLOYMENT, START, _pod_spec, *({"spec": {"template": {"spec": p}}} for p in patches)
    )


def _patched(native: Native, start: Any, pick: Any, *patches: dict[str, Any]) -> Body:
    """Nothing is stored, so that each patch meets the object as it was made."""

    async def run(p: Probe) -> None:
        await native.make(p, start)
        release = {"metadata": {"finalizers": None}}
        p.cleanup.push_async_callback(p.ask, "PATCH", native.path(p), release, patch="merge")
        how = {"patch": "strategic", "query": {"dryRun": "All"}, "pick": pick}
        for patch in patches:
            await p.see("PATCH", native.path(p), patch, **how)

    return run


def _app(**more: Any) -> dict[str, Any]:
    return {"containers": [{"name": "app", **more}]}


def _delete(**key: Any) -> dict[str, Any]:
    return {"$patch": "delete", **key}


probe("containers are merged by name, and a new one comes first")(
    _deployment(_app(image="new"), {"containers": [{"name": "new", "image": IMAGE}]})
)
probe("lists inside of a container are merged by their own keys")(
    _deployment(
        _app(env=[{"name": "A", "value": "9"}, {"name": "C", "value": "3"}]),
        _app(ports=[{"containerPort": 80, "name": "old"}]),
    )
)
probe("lists without a key, and lists of scalars, are replaced")(
    _deployment(_app(command=["c"]), {"tolerations": [{"key": "b", "operator": "Exists"}]})
)
probe("an item without its key is 500")(
    _deployment({"containers": [{"image": "new"}]}, _app(env=[{"value": "9"}]))
)
probe("$patch: delete removes an item by its key, or a whole map")(
    _deployment(
        {"containers": [_delete(name="side")]},
        _app(env=[_delete(name="A")]),
        {"nodeSelector": {"$patch": "delete"}},
        {"containers": [_delete(name="missing")]},
        {"containers": [_delete()]},
    )
)
probe("$patch: replace puts a list or a map in the place of the old one")(
    _deployment(
        {"containers": [{"$patch": "replace"}, {"name": "only", "image": IMAGE}]},
        {"nodeSelector": {"$patch": "replace", "c": "3"}},
        _app(env=[{"$patch": "replace"}]),
    )
)
probe("null removes a key of a map, or a whole list")(
    _deployment({"nodeSelector": {"a": None}}, {"tolerations": None}, _app(command=None))
)
probe("$setElementOrder puts items in order, and must name all that the patch has")(
    _deployment(
        {"$setElementOrder/containers": [{"name": "side"}, {"name": "app"}]},
        {
            "$setElementOrder/containers": [{"name": "app"}, {"name": "new"}, {"name": "side"}],
            "containers": [{"name": "new", "image": IMAGE}],
        },
        {"$setElementOrder/containers": [{"name": "app"}], **_app(image="new")},
        {"$setElementOrder/containers": [{"name": "side"}], **_app(image="new")},
    )
)
probe("$retainKeys drops the keys of a map that it does not name")(
    _deployment(
        {
            "volumes": [
                {"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/a"}}
            ]
        },
        {"volumes": [{"name": "v", "hostPath": {"path": "/a"}}]},
        {"volumes": [{"name": "v", "$retainKeys": ["name"], "hostPath": {"path": "/a"}}]},
    )
)


def _strategy(body: dict[str, Any]) -> Any:
    return body["spec"]["strategy"]


probe("$retainKeys of a deployment's strategy lets its type change")(
    _patched(
        DEPLOYMENT,
        None,
        _strategy,
        {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}},
        {"spec": {"strategy": {"type": "Recreate"}}},
        {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}}},
    )
)


def _finalizers(body: dict[str, Any]) -> Any:
    return body["metadata"].get("finalizers")


def _metadata(**metadata: Any) -> dict[str, Any]:
    return {"metadata": metadata}


probe("finalizers are merged as a set, and $deleteFromPrimitiveList takes some out")(
    _patched(
        CONFIG_MAP,
        {"metadata": {"finalizers": ["example.com/a", "example.com/b"]}},
        _finalizers,
        _metadata(finalizers=["example.com/c"]),
        _metadata(finalizers=["example.com/a"]),
        _metadata(**{"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}),
        _metadata(**{"$deleteFromPrimitiveList/finalizers": ["example.com/missing"]}),
        _metadata(**{"$setElementOrder/finalizers": ["example.com/b", "example.com/a"]}),
        _metadata(finalizers=None),
    )
)


@probe("owners are merged by uid")
async def owners(p: Probe) -> None:
    refs = []
    for name in ("a", "b"):
        made = await p.do("POST", CONFIG_MAP.collection(p), {"metadata": {"name": f"owner-{name}"}})
        uid = made["metadata"]["uid"]
        refs.append({"apiVersion": "v1", "kind": "ConfigMap", "name": f"owner-{name}", "uid": uid})
    await CONFIG_MAP.make(p, {"metadata": {"ownerReferences": refs[:1]}})
    for ref in (refs[1], _delete(uid=refs[0]["uid"])):
        patch = _metadata(ownerReferences=[ref])
        await p.see("PATCH", CONFIG_MAP.path(p), patch, patch="strategic", pick=_owner_names)


def _owner_names(body: dict[str, Any]) -> Any:
    return [owner["name"] for owner in body["metadata"].get("ownerReferences", [])]


def _ports(body: dict[str, Any]) -> Any:
    return body["spec"]["ports"]


probe("a service's ports are merged by port, whatever the protocol")(
    _patched(
        SERVICE,
        {"spec": {"ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]}},
        _ports,
        {"spec": {"ports": [{"port": 80, "name": "c"}]}},
        {"spec": {"ports": [{"port": 80, "name": "c", "protocol": "UDP"}]}},
        {"spec": {"ports": [_delete(port=80)]}},
    )
)


def _data(body: dict[str, Any]) -> Any:
    return body.get("data")


probe("an unknown directive is 500, and one at the top is about the whole object")(
    _patched(
        CONFIG_MAP,
        None,
        _data,
        {"data": {"$patch": "frob"}},
        {"data": {"$patch": "replace", "b": "2"}},
        {"$patch": "delete"},
        {"$patch": "replace", "metadata": {"name": "a"}, "data": {"b": "2"}},
        {"data": "text"},
        {"data": {"$retainKeys": ["b"], "b": "2"}},
    )
)
probe("a list where a map belongs is 422, and so is a map where a list belongs")(
    _deployment({"containers": {"name": "app"}}, {"nodeSelector": []}, {"containers": "app"})
)
