# SPDX-License-Identifier: Apache-2.0
"""Whether a pod's spec, alone or in a template, is one that the server takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trellis.embedded.fielderrors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from trellis.embedded.natives.goforms import printed
from trellis.embedded.natives.metadata import (
    validate_annotations,
    validate_labels,
    validate_metadata,
    validate_own_finalizers,
)
from trellis.embedded.natives.pod.containers import (
    Surroundings,
    request_within,
    validate_containers,
    validate_ephemeral_containers,
    validate_ids,
    validate_image,
    validate_init_containers,
    validate_profile,
)
from trellis.embedded.natives.pod.scheduling import (
    validate_affinity,
    validate_gates,
    validate_spread,
    validate_tolerations,
)
from trellis.embedded.natives.pod.volumes import validate_volumes
from trellis.embedded.natives.quantities import (
    aggregated,
    check_amount,
    check_name,
    is_huge_page,
    parsed,
    written,
)
from trellis.embedded.natives.syntax import (
    check,
    dns_label,
    dns_subdomain,
    in_range,
    ip_address,
    label_key,
)

if TYPE_CHECKING:
    from trellis.embedded.asking import Object

_MOST = (1 << 31) - 1
_RESTARTS = ("Always", "OnFailure", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION = ("PreemptLowerPriority", "Never")
_NAMES = (
    ("serviceAccountName", dns_subdomain),
    ("nodeName", dns_subdomain),
    ("hostname", dns_label),
    ("subdomain", dns_label),
    ("priorityClassName", dns_subdomain),
    ("runtimeClassName", dns_subdomain),
)
_COST = "controller.kubernetes.io/pod-deletion-cost"


def validate_pod(pod: Object) -> list[FieldError]:
    """Metadata and spec, as at creation and at every update of it."""
    spec = pod.get("spec") or {}
    errors = validate_metadata(pod, namespaced=True) + validate_own_finalizers(pod)
    errors += pod_annotations(pod.get("metadata") or {}, "metadata.annotations")
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


def pod_annotations(metadata: dict[str, Any], path: str) -> list[FieldError]:
    annotations = metadata.get("annotations")
    if not annotations or _COST not in annotations:
        return []
    cost = annotations[_COST]
    digits = cost.removeprefix("-")
    plain = digits.isascii() and digits.isdigit() and (digits == "0" or not digits.startswith("0"))
    if plain and -(1 << 31) <= int(cost) <= _MOST and cost != "-0":
        return []
    return [invalid(f"{path}[{_COST}]", cost, "must be a 32bit integer")]


def validate_template(template: dict[str, Any], path: str) -> list[FieldError]:
    """The template of a pod: its labels, annotations and spec."""
    metadata = template.get("metadata") or {}
    errors = validate_labels(metadata.get("labels") or {}, f"{path}.labels")
    errors += validate_annotations(metadata.get("annotations") or {}, f"{path}.annotations")
    errors += pod_annotations(metadata, f"{path}.annotations")
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
        grace=grace,
        os=(spec.get("os") or {}).get("name") or "",
        restart=spec.get("restartPolicy") or "",
        host_users=spec.get("hostUsers") is not False,
    )
    errors += _all_containers(spec, around, path)
    if spec.get("resources") is not None:
        errors += _pod_resources(spec, f"{path}.resources")
    if spec.get("hostNetwork"):
        errors += _host_network(spec, path, pod=pod)
    errors += _policies(spec, path)
    errors += _placement(spec, path)
    errors += _names(spec, path)
    errors += _security(spec, f"{path}.securityContext")
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
    """Resources of the pod as a whole: of three kinds, and enough for its containers."""
    resources = spec["resources"]
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    errors: list[FieldError] = []
    if resources.get("claims"):
        detail = "claims may not be set for Resources at pod-level"
        errors.append(forbidden(f"{path}.claims", detail))
    for which, amounts in (("limits", limits), ("requests", requests)):
        for name, text in amounts.items():
            at = f"{path}.{which}[{name}]"
            errors += _pod_resource_name(name, at) + check_amount(name, text, at)
            if which == "requests":
                errors += request_within(name, text, limits.get(name), path)
    return errors + _enough_for_containers(spec, path)


def _enough_for_containers(spec: dict[str, Any], path: str) -> list[FieldError]:
    resources = spec["resources"]
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    errors: list[FieldError] = []
    for name, nano in aggregated(spec, "requests").items():
        if name in requests and nano > parsed(requests[name]):
            total = written(name, nano)
            said = f"must be greater than or equal to aggregate container requests of {total}"
            errors.append(invalid(f"{path}.requests[{name}]", requests[name], said))
    for position, container in enumerate(spec.get("containers") or ()):
        for name, text in ((container.get("resources") or {}).get("limits") or {}).items():
            if name in limits and parsed(text) > parsed(limits[name]):
                at = f"{path}.containers[{position}][{name}].limits"
                said = f"must be less than or equal to pod limits of {limits[name]}"
                errors.append(invalid(at, text, said))
    return errors


def _pod_resource_name(name: str, path: str) -> list[FieldError]:
    if errors := check_name(name, path):
        return errors
    if name in {"cpu", "memory"} or is_huge_page(name):
        return []
    return [not_supported(path, name, ("cpu", "hugepages-", "memory"))]


def _host_network(spec: dict[str, Any], path: str, *, pod: bool) -> list[FieldError]:
    detail = "must match `containerPort` when `hostNetwork` is true"
    return [
        invalid(f"{path}.containers[{position}].ports[{index}].hostPort", on_host, detail)
        for position, container in enumerate(spec.get("containers") or ())
        for index, port in enumerate(container.get("ports") or ())
        if (on_host := port.get("hostPort") or 0) != (port.get("containerPort") or 0)
        and (pod or on_host)
    ]


def _policies(spec: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for name, allowed in (("restartPolicy", _RESTARTS), ("dnsPolicy", _DNS)):
        value = spec.get(name) or ""
        if value not in allowed:
            at = f"{path}.{name}"
            errors.append(not_supported(at, value, allowed) if value else required(at))
    if (policy := spec.get("preemptionPolicy")) is not None and policy not in _PREEMPTION:
        errors.append(not_supported(f"{path}.preemptionPolicy", policy, _PREEMPTION))
    if (deadline := spec.get("activeDeadlineSeconds")) is not None:
        at = f"{path}.activeDeadlineSeconds"
        errors += [invalid(at, deadline, each) for each in in_range(deadline, 1, _MOST)]
    return errors


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
    for name, text in (spec.get("overhead") or {}).items():
        at = f"{path}.overhead[{name}]"
        errors += check_name(name, at) + check_amount(name, text, at)
    return errors


def _names(spec: dict[str, Any], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for name, grammar in _NAMES:
        if value := spec.get(name):
            errors += check(grammar, f"{path}.{name}", value)
    for position, alias in enumerate(spec.get("hostAliases") or ()):
        at = f"{path}.hostAliases[{position}]"
        errors += check(ip_address, f"{at}.ip", alias.get("ip") or "")
        for index, host in enumerate(alias.get("hostnames") or ()):
            errors += check(dns_subdomain, f"{at}.hostnames[{index}]", host)
    if (override := spec.get("hostnameOverride")) is not None:
        errors += _host_override(spec, override, f"{path}.hostnameOverride")
    if (system := spec.get("os")) is not None:
        name, at = system.get("name") or "", f"{path}.os.name"
        if name not in {"linux", "windows"}:
            wrong = not_supported(at, name, ("linux", "windows"))
            errors.append(wrong if name else required(at))
    return errors


def _host_override(spec: dict[str, Any], override: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for name in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.get(name):
            errors.append(forbidden(path, f"may not be specified when {name} is true"))
    if len(override) > 64:
        errors.append(too_long(path, 64))
    return errors + check(dns_subdomain, path, override)


def _security(spec: dict[str, Any], path: str) -> list[FieldError]:
    context = spec.get("securityContext")
    if not context:
        return []
    errors = validate_ids(context, ("fsGroup", "runAsUser", "runAsGroup"), path)
    for position, group in enumerate(context.get("supplementalGroups") or ()):
        at = f"{path}.supplementalGroups[{position}]"
        errors += [invalid(at, group, each) for each in in_range(group, 0, _MOST)]
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        errors.append(invalid(f"{path}.shareProcessNamespace", True, detail))
    for name, allowed in (
        ("fsGroupChangePolicy", ("Always", "OnRootMismatch")),
        ("supplementalGroupsPolicy", ("Merge", "Strict")),
    ):
        if context.get(name) is not None and context[name] not in allowed:
            errors.append(not_supported(f"{path}.{name}", context[name], allowed))
    if (profile := context.get("seccompProfile")) is not None:
        errors += validate_profile(profile, f"{path}.seccompProfile")
    return errors


def _dns(spec: dict[str, Any], path: str) -> list[FieldError]:
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            return [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not config.get("nameservers"):
            detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            return [required(f"{path}.nameservers", detail)]
    return _dns_config(config, path) if config else []


def _dns_config(config: dict[str, Any], path: str) -> list[FieldError]:
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    errors: list[FieldError] = []
    if len(servers) > 3:
        detail = "must not have more than 3 nameservers"
        errors.append(invalid(f"{path}.nameservers", servers, detail))
    for position, server in enumerate(servers):
        errors += check(ip_address, f"{path}.nameservers[{position}]", server)
    if len(searches) > 32:
        detail = "must not have more than 32 search paths"
        errors.append(invalid(f"{path}.searches", searches, detail))
    for position, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            errors.append(required(f"{path}.options[{position}]", "must not be empty"))
    return errors


def _tokens_without_account(spec: dict[str, Any]) -> list[FieldError]:
    detail = "must not be specified when serviceAccountName is not set"
    return [
        forbidden(f"spec.volumes[{at}].projected.sources[{index}].serviceAccountToken", detail)
        for at, volume in enumerate(spec.get("volumes") or ())
        for index, source in enumerate((volume.get("projected") or {}).get("sources") or ())
        if source.get("serviceAccountToken") is not None
    ]
