# SPDX-License-Identifier: Apache-2.0
"""What a PodCliqueSet says without saying it. Pure, and the same again when done twice.

This runs before the schema is checked, so anything may stand anywhere: what is not of its type is
left for the schema to refuse. It never changes a set that is left as it was, and never gives a
field a value that an update must not have.
"""

from __future__ import annotations

from typing import Any

from trellis.workloads.admission.problems import CLIQUES

Json = dict[str, Any]

# As Go prints four hours, which is what clients of Grove compare with.
TERMINATION_DELAY = "4h0m0s"
RESTART_POLICY = "Always"
GRACE_SECONDS = 30
NAMESPACE = "default"


def fill(new: Json, old: Json | None = None, namespace: str = "") -> tuple[str, ...]:
    """Fills in defaults, in place, and returns what a user should know of. `old` is as stored."""
    metadata = _object(new.get("metadata"))
    if metadata is not None and not metadata.get("namespace"):
        metadata["namespace"] = namespace or NAMESPACE
    template = _template(new)
    if template is None:
        return ()
    if template.get("terminationDelay") is None:
        template["terminationDelay"] = TERMINATION_DELAY
    if template.get("headlessServiceConfig") is None:
        template["headlessServiceConfig"] = {"publishNotReadyAddresses": True}
    for group in _objects(template.get("podCliqueScalingGroups")):
        _group(group)
    return _cliques(template, _stored(old))


def _cliques(template: Json, stored: dict[str, Json]) -> tuple[str, ...]:
    said = []
    for index, clique in enumerate(_objects(template.get("cliques"))):
        spec = _object(clique.get("spec"))
        if spec is None:
            continue
        if _is_zero(spec.get("replicas")) and "replicas" in spec:
            said.append(
                f"{CLIQUES.item(index, '').shown}.spec.replicas: 0 is taken for 1; "
                "scale the PodClique to 0 once it is there"
            )
        name = clique.get("name")
        _clique(spec, stored.get(name, {}) if isinstance(name, str) else {})
    return tuple(said)


def _clique(spec: Json, stored: Json) -> None:
    if _is_zero(spec.get("replicas", 0)) or spec.get("replicas") is None:
        spec["replicas"] = 1
    replicas = spec["replicas"]
    if spec.get("minAvailable") is None and _is_count(replicas):
        # One that is stored stays, since it must not change: who writes the set may not know it.
        kept = stored.get("minAvailable")
        spec["minAvailable"] = kept if _is_count(kept) else replicas
    scaling = _object(spec.get("autoScalingConfig"))
    if scaling is not None and scaling.get("minReplicas") is None and _is_count(replicas):
        scaling["minReplicas"] = replicas
    pod = _object(spec.get("podSpec"))
    # What is left as it was stays: who changes something else did not ask for more.
    if pod is not None and pod != stored.get("podSpec"):
        _pod(pod)


def _pod(pod: Json) -> None:
    if pod.get("restartPolicy") in (None, ""):
        pod["restartPolicy"] = RESTART_POLICY
    if pod.get("terminationGracePeriodSeconds") is None:
        pod["terminationGracePeriodSeconds"] = GRACE_SECONDS


def _group(group: Json) -> None:
    scaling = _object(group.get("scaleConfig"))
    replicas = group.get("replicas", 1)
    if scaling is not None and scaling.get("minReplicas") is None and _is_count(replicas):
        scaling["minReplicas"] = replicas


def _stored(old: Json | None) -> dict[str, Json]:
    """The specs of the stored cliques, by name."""
    template = _template(old) if old else None
    return {
        clique["name"]: spec
        for clique in _objects(template.get("cliques") if template else None)
        if isinstance(clique.get("name"), str) and (spec := _object(clique.get("spec"))) is not None
    }


def _template(document: Json) -> Json | None:
    spec = _object(document.get("spec"))
    return _object(spec.get("template")) if spec is not None else None


def _object(value: Any) -> Json | None:
    return value if isinstance(value, dict) else None


def _objects(value: Any) -> list[Json]:
    """The items of a list, with an empty one of no consequence for what is no object."""
    if not isinstance(value, list):
        return []
    return [one if isinstance(one, dict) else {} for one in value]


def _is_count(value: Any) -> bool:
    # A truth value is a number to Python, and none to anybody else.
    return isinstance(value, int) and not isinstance(value, bool)


def _is_zero(value: Any) -> bool:
    return _is_count(value) and value == 0
