# SPDX-License-Identifier: Apache-2.0
"""Whether a pod's spec, alone or in a template, is one that the server takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    required,
)
from trellis.embedded.natives.goforms import printed
from trellis.embedded.natives.metadata import (
    validate_annotations,
    validate_labels,
    validate_metadata,
    validate_own_finalizers,
)
from trellis.embedded.natives.pod.containers import (
    PROFILE,
    Surroundings,
    request_within,
    validate_containers,
    validate_ephemeral_containers,
    validate_ids,
    validate_image,
    validate_init_containers,
)
from trellis.embedded.natives.pod.scheduling import (
    validate_affinity,
    validate_gates,
    validate_spread,
    validate_tolerations,
)
from trellis.embedded.natives.pod.volumes import validate_volumes
from trellis.embedded.natives.quantities import check_amount, check_name
from trellis.embedded.natives.rules import between, needed_choice, one_of, struct, text
from trellis.embedded.natives.syntax import check, dns_label, dns_subdomain, label_key

if TYPE_CHECKING:
    from trellis.embedded.asking import Object


def validate_pod(pod: Object) -> list[FieldError]:
    """Metadata and spec, as at creation and at every update of it."""
    spec = pod.get("spec") or {}
    errors = validate_metadata(pod, namespaced=True) + validate_own_finalizers(pod)
    errors += validate_pod_spec(spec, "spec", pod=True)
    for name in ("containers", "initContainers"):
        for position, container in enumerate(spec.get(name) or ()):
            errors += validate_image(container, f"spec.{name}[{position}]")
    if not spec.get("serviceAccountName"):
        errors += _tokens_without_account(spec)
    return errors


def validate_new_pod(pod: Object) -> list[FieldError]:
    errors = validate_pod(pod)
    spec = pod.get("spec") or {}
    if spec.get("ephemeralContainers"):
        errors.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        detail = "cannot be set until all schedulingGates have been cleared"
        errors.append(forbidden("spec.nodeName", detail))
    return errors


def validate_template(template: dict[str, Any], path: str) -> list[FieldError]:
    """The template of a pod: its labels, annotations and spec."""
    metadata = template.get("metadata") or {}
    errors = validate_labels(metadata.get("labels") or {}, f"{path}.labels")
    errors += validate_annotations(metadata.get("annotations") or {}, f"{path}.annotations")
    errors += validate_pod_spec(template.get("spec") or {}, f"{path}.spec", pod=False)
    if (template.get("spec") or {}).get("ephemeralContainers"):
        detail = "ephemeral containers not allowed in pod template"
        errors.append(forbidden(f"{path}.spec.ephemeralContainers", detail))
    return errors


def validate_pod_spec(spec: dict[str, Any], path: str, *, pod: bool) -> list[FieldError]:
    grace = spec.get("terminationGracePeriodSeconds")
    errors = [] if grace is not None else [required(f"{path}.terminationGracePeriodSeconds")]
    volumes, found = validate_volumes(spec.get("volumes") or [], f"{path}.volumes")
    errors += found
    claims = spec.get("resourceClaims") or []
    errors += _pod_claims(claims, f"{path}.resourceClaims")
    around = Surroundings(
        volumes=volumes,
        claims=frozenset(each["name"] for each in claims if each.get("name")),
        os=(spec.get("os") or {}).get("name") or "",
    )
    errors += _all_containers(spec, around, path)
    if spec.get("resources") is not None:
        errors += _pod_resources(spec, f"{path}.resources")
    if spec.get("hostNetwork"):
        errors += _host_network(spec, path, pod=pod)
    errors += _POLICIES(spec, path)
    errors += _placement(spec, path)
    errors += _NAMES(spec, path)
    if context := spec.get("securityContext"):
        errors += _security(context, f"{path}.securityContext")
    errors += _dns(spec, f"{path}.dnsConfig")
    return errors


def _all_containers(spec: dict[str, Any], around: Surroundings, path: str) -> list[FieldError]:
    regular = spec.get("containers") or []
    errors = validate_containers(regular, around, f"{path}.containers")
    first, debug = spec.get("initContainers"), spec.get("ephemeralContainers")
    if first or debug:
        names = {each.get("name") or "" for each in regular}
        at = f"{path}.initContainers"
        errors += validate_init_containers(first or [], names, around, at)
        at = f"{path}.ephemeralContainers"
        errors += validate_ephemeral_containers(debug or [], names, around, at)
    return errors


def _pod_claims(claims: list[dict[str, Any]], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    names: set[str] = set()
    for position, claim in enumerate(claims):
        at, name = f"{path}[{position}]", claim.get("name") or ""
        if not name:
            errors.append(required(f"{at}.name"))
        elif name in names:
            errors.append(duplicate(f"{at}.name", name))
        else:
            errors += check(dns_label, f"{at}.name", name)
        names.add(name)
        errors += _claim_source(claim, at)
    return errors


def _claim_source(claim: dict[str, Any], path: str) -> list[FieldError]:
    sources = ("resourceClaimName", "resourceClaimTemplateName")
    present = [name for name in sources if claim.get(name) is not None]
    errors: list[FieldError] = []
    if len(present) != 1:
        detail = (
            "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            if present
            else "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
        )
        errors.append(invalid(path, printed("core.PodResourceClaim", claim), detail))
    for name in present:
        errors += check(dns_subdomain, f"{path}.{name}", claim[name])
    return errors


def _pod_resources(spec: dict[str, Any], path: str) -> list[FieldError]:
    """Resources of the pod as a whole."""
    limits, requests = (spec["resources"].get(which) or {} for which in ("limits", "requests"))
    errors: list[FieldError] = []
    for which, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            at = f"{path}.{which}[{name}]"
            errors += check_name(name, at) + check_amount(name, amount, at)
            if which == "requests":
                errors += request_within(name, amount, limits.get(name), path)
    return errors


def _host_network(spec: dict[str, Any], path: str, *, pod: bool) -> list[FieldError]:
    detail = "must match `containerPort` when `hostNetwork` is true"
    return [
        invalid(f"{path}.containers[{position}].ports[{index}].hostPort", on_host, detail)
        for position, container in enumerate(spec.get("containers") or ())
        for index, port in enumerate(container.get("ports") or ())
        if (on_host := port.get("hostPort") or 0) != (port.get("containerPort") or 0)
        and (pod or on_host)
    ]


_POLICIES = struct(
    restartPolicy=needed_choice("Always", "OnFailure", "Never"),
    dnsPolicy=needed_choice("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"),
    preemptionPolicy=one_of("PreemptLowerPriority", "Never"),
    activeDeadlineSeconds=between(1, (1 << 31) - 1),
)
_NAMES = struct(
    serviceAccountName=text(dns_subdomain),
    nodeName=text(dns_subdomain),
    hostname=text(dns_label),
    subdomain=text(dns_label),
    priorityClassName=text(dns_subdomain),
    runtimeClassName=text(dns_subdomain),
    os=struct(name=needed_choice("linux", "windows")),
)


def _placement(spec: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if selector := spec.get("nodeSelector"):
        errors += validate_labels(selector, f"{path}.nodeSelector")
    if affinity := spec.get("affinity"):
        errors += validate_affinity(affinity, f"{path}.affinity")
    for position, gate in enumerate(spec.get("readinessGates") or ()):
        at = f"{path}.readinessGates[{position}].conditionType"
        errors += check(label_key, at, gate.get("conditionType") or "")
    if gates := spec.get("schedulingGates"):
        errors += validate_gates(gates, f"{path}.schedulingGates")
    if constraints := spec.get("topologySpreadConstraints"):
        errors += validate_spread(constraints, f"{path}.topologySpreadConstraints")
    if tolerations := spec.get("tolerations"):
        errors += validate_tolerations(tolerations, f"{path}.tolerations")
    return errors


def _security(context: dict[str, Any], path: str) -> list[FieldError]:
    errors = validate_ids(context, ("fsGroup", "runAsUser", "runAsGroup"), path)
    return errors + PROFILE(context.get("seccompProfile"), f"{path}.seccompProfile")


def _dns(spec: dict[str, Any], path: str) -> list[FieldError]:
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            return [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not config.get("nameservers"):
            detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            return [required(f"{path}.nameservers", detail)]
    return []


def _tokens_without_account(spec: dict[str, Any]) -> list[FieldError]:
    detail = "must not be specified when serviceAccountName is not set"
    return [
        forbidden(f"spec.volumes[{at}].projected.sources[{index}].serviceAccountToken", detail)
        for at, volume in enumerate(spec.get("volumes") or ())
        for index, source in enumerate((volume.get("projected") or {}).get("sources") or ())
        if source.get("serviceAccountToken") is not None
    ]
