# SPDX-License-Identifier: Apache-2.0
"""python official.py KUBECONFIG NAMESPACE: calls of the official Python client, unmodified.

A program: it prints what each call gave, as JSON. Never imported.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

kubernetes: Any = importlib.import_module("kubernetes")
client, config, watch = kubernetes.client, kubernetes.config, kubernetes.watch
dynamic: Any = importlib.import_module("kubernetes.dynamic")
informer: Any = importlib.import_module("kubernetes.informer")
utils: Any = importlib.import_module("kubernetes.utils")

TRIES = 100
TRY_SECONDS = 0.1

CONFIG_MAP = {"metadata": {"name": "one", "labels": {"a": "1"}}, "data": {"k": "v"}}
POD: dict[str, Any] = {
    "metadata": {"name": "pod"},
    "spec": {
        "schedulerName": "nobody",
        "containers": [{"name": "main", "image": "registry.example/a:1"}],
    },
}
JOB = {
    "metadata": {"name": "job"},
    "spec": {
        "suspend": True,
        "template": {"spec": {"restartPolicy": "Never", **POD["spec"]}},
    },
}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 0,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": POD["spec"]},
    },
}


def main(kubeconfig: str, namespace: str) -> None:
    api = config.new_client_from_config(kubeconfig)
    parts = (calls, workloads, accounts, custom_kinds, dynamic_calls)
    made = {name: call for part in parts for name, call in part(api, namespace).items()}
    print(json.dumps({name: _said(call) for name, call in made.items()}))


def calls(api: Any, ns: str) -> dict[str, Callable[[], Any]]:
    """By name, in the order in which they are made: later ones see what earlier ones did."""
    core, batch = client.CoreV1Api(api), client.BatchV1Api(api)
    custom = client.CustomObjectsApi(api)
    reviews = client.AuthorizationV1Api(api)

    def names(items: Any) -> list[str]:
        return [item.metadata.name for item in items if item.metadata.name != "kube-root-ca.crt"]

    def follow() -> list[Any]:
        version = core.list_namespaced_config_map(ns).metadata.resource_version
        timer = threading.Timer(0.2, core.create_namespaced_config_map, [ns, _named("seen")])
        timer.start()
        seen = []
        watching = watch.Watch()
        for event in watching.stream(
            core.list_namespaced_config_map, ns, resource_version=version, timeout_seconds=20
        ):
            seen.append([event["type"], event["object"].metadata.name])
            watching.stop()
        timer.join()
        return seen

    def paged() -> list[Any]:
        first = core.list_namespaced_config_map(ns, limit=1)
        rest = core.list_namespaced_config_map(ns, _continue=first.metadata._continue)
        return [len(first.items), names([*first.items, *rest.items])]

    review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": ns}}}
    strategic = {"metadata": {"labels": {"b": "2"}}}
    return {
        "version": lambda: client.VersionApi(api).get_code().git_version,
        "groups": lambda: [
            group.name
            for group in client.ApisApi(api).get_api_versions().groups
            # Those that other tests defined come and go.
            if not group.name.endswith("example.com")
        ],
        "resources": lambda: len(core.get_api_resources().resources) > 20,
        "create": lambda: core.create_namespaced_config_map(ns, CONFIG_MAP).data,
        "create again": lambda: core.create_namespaced_config_map(ns, CONFIG_MAP),
        "create dry": lambda: (
            core.create_namespaced_config_map(ns, _named("dry"), dry_run="All").metadata.name
        ),
        "read": lambda: core.read_namespaced_config_map("one", ns).data,
        "read what is not there": lambda: core.read_namespaced_config_map("none", ns),
        "list": lambda: names(core.list_namespaced_config_map(ns).items),
        "list by label": lambda: names(
            core.list_namespaced_config_map(ns, label_selector="a=1").items
        ),
        "list by field": lambda: names(
            core.list_namespaced_config_map(ns, field_selector="metadata.name=none").items
        ),
        "list by a bad field": lambda: core.list_namespaced_config_map(ns, field_selector="b=1"),
        "list everywhere": lambda: (
            names(
                core.list_config_map_for_all_namespaces(field_selector="metadata.name=one").items
            ).count("one")
            >= 1
        ),
        "watch": follow,
        "list in pages": paged,
        "patch": lambda: core.patch_namespaced_config_map("one", ns, strategic).metadata.labels,
        "replace": lambda: (
            core.replace_namespaced_config_map("one", ns, {**CONFIG_MAP, "data": {"k": "w"}}).data
        ),
        "replace what is not there": lambda: core.replace_namespaced_config_map(
            "none", ns, _named("none")
        ),
        "create a pod": lambda: core.create_namespaced_pod(ns, POD).status.phase,
        "create a bad pod": lambda: core.create_namespaced_pod(ns, {"metadata": {"name": "X"}}),
        "read a pod's status": lambda: core.read_namespaced_pod_status("pod", ns).status.phase,
        "patch a pod's status": lambda: (
            core.patch_namespaced_pod_status(
                "pod", ns, {"status": {"phase": "Running", "podIP": "10.0.0.1"}}
            ).status.phase
        ),
        "read a pod's log": lambda: core.read_namespaced_pod_log("pod", ns),
        "delete a pod": lambda: core.delete_namespaced_pod("pod", ns).metadata.name,
        "create a job": lambda: batch.create_namespaced_job(ns, JOB).spec.completion_mode,
        "delete a job": lambda: (
            type(batch.delete_namespaced_job("job", ns, propagation_policy="Background")).__name__
        ),
        "review": lambda: reviews.create_self_subject_access_review(review).status.allowed,
        "a custom kind that is not there": lambda: custom.list_namespaced_custom_object(
            "none.example.com", "v1", ns, "nones"
        ),
        "a built-in kind as a custom one": lambda: sorted(
            custom.list_namespaced_custom_object("batch", "v1", ns, "jobs")
        ),
        "delete": lambda: type(core.delete_namespaced_config_map("one", ns)).__name__,
        "delete a collection": lambda: (
            type(
                core.delete_collection_namespaced_config_map(
                    ns, field_selector="metadata.name!=kube-root-ca.crt"
                )
            ).__name__
        ),
    }


def workloads(api: Any, ns: str) -> dict[str, Callable[[], Any]]:
    core, apps = client.CoreV1Api(api), client.AppsV1Api(api)
    leases, policy = client.CoordinationV1Api(api), client.PolicyV1Api(api)
    lease = {"metadata": {"name": "lock"}, "spec": {"holderIdentity": "one"}}
    budget = {"metadata": {"name": "few"}, "spec": {"minAvailable": 1}}

    def follow() -> list[Any]:
        """What an informer has from its list and from its watch."""
        shared = informer.SharedInformer(
            core.list_namespaced_secret, namespace=ns, field_selector="type=example.com/seen"
        )
        core.create_namespaced_secret(ns, {**_named("listed"), "type": "example.com/seen"})
        shared.start()
        try:
            _until(lambda: len(shared.cache.list()) == 1)
            core.create_namespaced_secret(ns, {**_named("watched"), "type": "example.com/seen"})
            _until(lambda: len(shared.cache.list()) == 2)
            return sorted(found.metadata.name for found in shared.cache.list())
        finally:
            shared.stop()

    def outdated() -> Any:
        first = leases.read_namespaced_lease("lock", ns)
        first.spec.holder_identity = "two"
        leases.replace_namespaced_lease("lock", ns, first)
        return leases.replace_namespaced_lease("lock", ns, first)

    return {
        "create from a dict": lambda: [
            made.spec.replicas
            for made in utils.create_from_dict(api, DEPLOYMENT, namespace=ns, verbose=False)
        ],
        "patch by operations": lambda: (
            apps.patch_namespaced_deployment(
                "web", ns, [{"op": "add", "path": "/metadata/labels", "value": {"c": "3"}}]
            ).metadata.labels
        ),
        "read a scale": lambda: apps.read_namespaced_deployment_scale("web", ns).spec.replicas,
        "patch a scale badly": lambda: apps.patch_namespaced_deployment_scale(
            "web", ns, {"spec": {"replicas": -1}}
        ),
        "replace a scale": lambda: (
            apps.replace_namespaced_deployment_scale(
                "web", ns, {"metadata": {"name": "web"}, "spec": {"replicas": 0}}
            ).spec.replicas
        ),
        "create a budget": lambda: (
            policy.create_namespaced_pod_disruption_budget(ns, budget).spec.min_available
        ),
        "create to evict": lambda: (
            core.create_namespaced_pod(ns, {**POD, **_named("evicted")}).status.qos_class
        ),
        "evict": lambda: core.create_namespaced_pod_eviction("evicted", ns, _named("evicted")).kind,
        "bind to no node": lambda: core.create_namespaced_pod_binding(
            "none", ns, {**_named("none"), "target": {"kind": "Node", "name": "none"}}
        ),
        "create a lease": lambda: leases.create_namespaced_lease(ns, lease).spec.holder_identity,
        "replace an old version": outdated,
        "informer": follow,
    }


def accounts(api: Any, ns: str) -> dict[str, Callable[[], Any]]:
    core, access = client.CoreV1Api(api), client.RbacAuthorizationV1Api(api)
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    account = f"system:serviceaccount:{ns}:default"

    def granted(verb: str) -> Any:
        asked = {"verb": verb, "resource": "pods", "namespace": ns}
        return (
            client.AuthorizationV1Api(api)
            .create_subject_access_review({"spec": {"user": account, "resourceAttributes": asked}})
            .status.allowed
        )

    def rights() -> list[Any]:
        _until(lambda: granted("get"))
        return [granted(verb) for verb in ("get", "delete")]

    def as_account() -> Any:
        asked = {"spec": {"expirationSeconds": 600}}
        token = core.create_namespaced_service_account_token("default", ns, asked).status.token
        chosen = client.Configuration()
        chosen.host, chosen.ssl_ca_cert = api.configuration.host, api.configuration.ssl_ca_cert
        chosen.api_key = {"authorization": f"Bearer {token}"}
        other = client.AuthenticationV1Api(client.ApiClient(chosen))
        return other.create_self_subject_review({}).status.user_info.username

    return {
        "who am I": lambda: (
            client.AuthenticationV1Api(api).create_self_subject_review({}).status.user_info.username
        ),
        "create a role": lambda: (
            access.create_namespaced_role(ns, {**_named("reader"), "rules": rules}).rules[0].verbs
        ),
        "bind a role": lambda: (
            access.create_namespaced_role_binding(
                ns,
                {
                    **_named("reader"),
                    "roleRef": {
                        "apiGroup": "rbac.authorization.k8s.io",
                        "kind": "Role",
                        "name": "reader",
                    },
                    "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": ns}],
                },
            ).role_ref.name
        ),
        "what an account may": rights,
        "a token": as_account,
    }


def custom_kinds(api: Any, ns: str) -> dict[str, Callable[[], Any]]:
    group = f"{ns}.example.com"
    kinds, custom = client.ApiextensionsV1Api(api), client.CustomObjectsApi(api)
    place = (group, "v1", ns, "widgets")
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget"}
    properties = {
        "spec": {"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}}},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
        "subresources": {"status": {}},
    }
    definition = {
        "metadata": {"name": f"widgets.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }

    def widget(name: str, number: int) -> dict[str, Any]:
        head = {"apiVersion": f"{group}/v1", "kind": "Widget"}
        return {**head, **_named(name), "spec": {"n": number}}

    def established() -> bool:
        found = kinds.read_custom_resource_definition(f"widgets.{group}").status.conditions or []
        return any(one.type == "Established" and one.status == "True" for one in found)

    def served() -> bool:
        try:
            custom.list_namespaced_custom_object(*place)
        except client.ApiException:
            return False
        return True

    def defined() -> Any:
        made = kinds.create_custom_resource_definition(definition)
        _until(lambda: established() and served())
        return made.spec.names.list_kind

    return {
        "define a kind": defined,
        "create a custom object": lambda: custom.create_namespaced_custom_object(
            *place, widget("a", 1)
        )["metadata"]["generation"],
        "create a bad custom object": lambda: custom.create_namespaced_custom_object(
            *place, widget("b", 9)
        ),
        "patch a custom object": lambda: custom.patch_namespaced_custom_object(
            *place, "a", {"spec": {"n": 2}}
        )["metadata"]["generation"],
        "patch a custom object's status": lambda: custom.patch_namespaced_custom_object_status(
            *place, "a", {"status": {"p": "q"}}
        )["status"],
        "read a custom object": lambda: custom.get_namespaced_custom_object(*place, "a")["spec"],
        "delete a custom object": lambda: custom.delete_namespaced_custom_object(*place, "a")[
            "status"
        ],
        "delete a kind": lambda: (
            type(kinds.delete_custom_resource_definition(f"widgets.{group}")).__name__
        ),
    }


def dynamic_calls(api: Any, ns: str) -> dict[str, Callable[[], Any]]:
    """The client that knows kinds from discovery alone."""
    found: Any = dynamic.DynamicClient(api)
    maps = found.resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", **_named("dynamic")}

    def applied(value: str, manager: str, **more: Any) -> Any:
        given = {**body, "data": {"k": value}}
        return maps.server_side_apply(
            body=given, namespace=ns, field_manager=manager, **more
        ).data.to_dict()

    def patched() -> Any:
        given = {**body, "data": {"l": "3"}}
        merge = "application/merge-patch+json"
        return maps.patch(body=given, namespace=ns, content_type=merge).data.to_dict()

    return {
        "find a kind": lambda: maps.group_version,
        "find a kind by its short name": lambda: found.resources.get(short_names=["deploy"]).kind,
        "apply": lambda: applied("1", "one"),
        "apply against another": lambda: applied("2", "two"),
        "apply by force": lambda: applied("2", "two", force_conflicts=True),
        "patch dynamically": patched,
        "list dynamically": lambda: [
            one.metadata.name
            for one in maps.get(namespace=ns, field_selector="metadata.name=dynamic").items
        ],
        "watch dynamically": lambda: [
            [event["type"], event["object"].metadata.name]
            for event in maps.watch(namespace=ns, field_selector="metadata.name=dynamic", timeout=1)
        ],
        "delete dynamically": lambda: maps.delete(name="dynamic", namespace=ns).status,
    }


def _until(holds: Callable[[], bool]) -> None:
    for _ in range(TRIES):
        if holds():
            return
        time.sleep(TRY_SECONDS)
    raise TimeoutError(f"not in {TRIES * TRY_SECONDS:.0f} s")


def _named(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}}


def _said(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except client.ApiException as refusal:
        try:
            body = json.loads(refusal.body)
        except ValueError:
            body = {"message": str(refusal.body)}
        return {"status": refusal.status, "reason": body.get("reason"), "said": body["message"]}


main(*sys.argv[1:])
