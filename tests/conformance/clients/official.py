# SPDX-License-Identifier: Apache-2.0
"""python official.py KUBECONFIG NAMESPACE: calls of the official Python client, unmodified.

Run by an interpreter that has `kubernetes`; prints what each call gave, as JSON. Never imported.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

kubernetes: Any = importlib.import_module("kubernetes")
client, config, watch = kubernetes.client, kubernetes.config, kubernetes.watch

CONFIG_MAP = {"metadata": {"name": "one", "labels": {"a": "1"}}, "data": {"k": "v"}}
POD = {
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
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "main", "image": "registry.example/a:1"}],
            }
        },
    },
}


def main(kubeconfig: str, namespace: str) -> None:
    api = config.new_client_from_config(kubeconfig)
    print(json.dumps({name: _said(call) for name, call in calls(api, namespace).items()}))


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
        "groups": lambda: [group.name for group in client.ApisApi(api).get_api_versions().groups],
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
