# SPDX-License-Identifier: Apache-2.0
"""What `deploy/install.yaml` promises, whatever the parts of the operator declare."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from yaml.events import AliasEvent

from tests.support.yamls import LOADER
from tests.unit.app.builders import FOLDER, containers, installed, of_kind, one
from trellis.api.schema.crd import definition
from trellis.api.schema.kinds import KINDS
from trellis.app.manifests.__main__ import components, main
from trellis.app.manifests.bundle import BASE, INSTALL, parts
from trellis.app.manifests.installation import Installation

if TYPE_CHECKING:
    from pathlib import Path

ROOT = FOLDER.parent
SHIPPED = [FOLDER / INSTALL, *sorted((FOLDER / "kustomize").rglob("*.yaml"))]
CLUSTER_SCOPED = {
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "FlowSchema",
    "MutatingWebhookConfiguration",
    "Namespace",
    "PriorityLevelConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
}
# Whom Grove's users know them by: configuration object, webhook, path.
GROVE_WEBHOOKS = {
    "podcliqueset-defaulting-webhook": (
        "MutatingWebhookConfiguration",
        "pcs.defaulting.webhooks.grove.io",
        "/webhooks/default-podcliqueset",
    ),
    "podcliqueset-validating-webhook": (
        "ValidatingWebhookConfiguration",
        "pcs.validating.webhooks.grove.io",
        "/webhooks/validate-podcliqueset",
    ),
    "clustertopology-validating-webhook": (
        "ValidatingWebhookConfiguration",
        "clustertopology.validating.webhooks.grove.io",
        "/webhooks/validate-clustertopology",
    ),
    "authorizer-webhook": (
        "ValidatingWebhookConfiguration",
        "authorizer.webhooks.grove.io",
        "/webhooks/authorizer-webhook",
    ),
}
OPERATOR_ROLES = [
    role
    for role in of_kind("ClusterRole", "Role")
    if role["metadata"]["name"].startswith("grove:system")
]
RULES = [rule for role in OPERATOR_ROLES for rule in role["rules"]]
CONFIGURATIONS = list(of_kind("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"))
WEBHOOKS = [webhook for configuration in CONFIGURATIONS for webhook in configuration["webhooks"]]
each_webhook = pytest.mark.parametrize("webhook", WEBHOOKS, ids=lambda webhook: webhook["name"])


def test_every_file_is_fresh_and_there_is_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(tmp_path)
    made = {path.relative_to(tmp_path) for path in tmp_path.rglob("*.yaml")}
    assert made == {path.relative_to(FOLDER) for path in SHIPPED}
    for name in made:
        assert (FOLDER / name).read_text() == (tmp_path / name).read_text(), f"{name}: `make gen`"
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(made), "one line for each file"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_a_file_is_plain_yaml_without_anchors(path: Path) -> None:
    events = yaml.parse(path.read_text(), Loader=LOADER)
    assert not any(isinstance(event, AliasEvent) for event in events)


def test_what_is_read_is_what_was_built() -> None:
    built = [each for part in parts(components(), Installation()).values() for each in part]
    defined = [definition(served) for served in KINDS]
    wanted = json.loads(json.dumps([built[0], *defined, *built[1:]]))
    assert list(installed()) == wanted


def test_the_base_lists_its_files_and_holds_all_but_the_definitions() -> None:
    base = FOLDER / BASE
    kustomization = yaml.safe_load((base / "kustomization.yaml").read_text())
    found = [
        manifest
        for name in kustomization["resources"]
        for manifest in yaml.safe_load_all((base / name).read_text())
    ]
    assert found == [each for each in installed() if each["kind"] != "CustomResourceDefinition"]


def test_the_namespace_comes_first_and_every_namespaced_object_is_in_it() -> None:
    first, *others = installed()
    assert (first["kind"], first["metadata"]["name"]) == ("Namespace", "grove-system")
    placed = {each["kind"]: each["metadata"].get("namespace") for each in others}
    assert {kind for kind, namespace in placed.items() if namespace is None} <= CLUSTER_SCOPED
    assert {namespace for namespace in placed.values() if namespace} == {"grove-system"}


def test_no_two_objects_have_the_same_name() -> None:
    keys = [(each["kind"], each["metadata"]["name"]) for each in installed()]
    assert len(keys) == len(set(keys))


def test_every_object_but_the_definitions_is_labelled_as_ours_and_not_as_made_by_us() -> None:
    for manifest in installed():
        if manifest["kind"] != "CustomResourceDefinition":
            labels = manifest["metadata"]["labels"]
            assert labels["app.kubernetes.io/part-of"] == "grove"
            assert "app.kubernetes.io/managed-by" not in labels


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: ",".join(rule["resources"]))
def test_a_right_names_what_it_is_for_and_opens_no_way_up(rule: dict[str, list[str]]) -> None:
    assert "*" not in {*rule["apiGroups"], *rule["resources"], *rule["verbs"]}
    assert not {"bind", "escalate", "impersonate"} & set(rule["verbs"])
    assert not {"pods/exec", "pods/attach", "serviceaccounts/token"} & set(rule["resources"])


def test_secrets_are_ours_alone() -> None:
    (role,) = (each for each in OPERATOR_ROLES if each["kind"] == "ClusterRole")
    assert not any("secrets" in rule["resources"] for rule in role["rules"])
    (own,) = (each for each in OPERATOR_ROLES if each["kind"] == "Role")
    readable = [
        rule.get("resourceNames")
        for rule in own["rules"]
        if "secrets" in rule["resources"] and set(rule["verbs"]) != {"create"}
    ]
    assert readable == [["grove-webhook-server-cert"]]


def test_nodes_are_never_written() -> None:
    writes = [rule["verbs"] for rule in RULES if "nodes" in rule["resources"]]
    assert all(set(verbs) <= {"get", "list", "watch"} for verbs in writes)


def test_webhooks_have_the_names_and_paths_of_grove() -> None:
    for configuration in CONFIGURATIONS:
        kind, name, path = GROVE_WEBHOOKS[configuration["metadata"]["name"]]
        found = {
            each["name"]: each["clientConfig"]["service"] for each in configuration["webhooks"]
        }
        assert configuration["kind"] == kind
        assert found[name]["path"] == path
    paths = [webhook["clientConfig"]["service"]["path"] for webhook in WEBHOOKS]
    assert len(paths) == len(set(paths)), "a path answers for one webhook"


@each_webhook
def test_a_webhook_of_our_own_kinds_fails_closed_and_covers_every_namespace(
    webhook: dict[str, Any],
) -> None:
    assert webhook["failurePolicy"] == "Fail"
    assert (webhook["sideEffects"], webhook["timeoutSeconds"]) == ("None", 3)
    assert webhook["matchPolicy"] == "Equivalent"
    assert webhook["admissionReviewVersions"] == ["v1"]
    assert not {"namespaceSelector", "objectSelector"} & set(webhook)


@each_webhook
def test_deletion_and_status_never_reach_a_webhook(webhook: dict[str, Any]) -> None:
    for rule in webhook["rules"]:
        assert set(rule["operations"]) <= {"CREATE", "UPDATE"}
        for resource in rule["resources"]:
            assert "*" not in resource
            assert resource.partition("/")[2] in {"", "scale"}


@each_webhook
def test_the_bundle_of_authorities_is_left_to_the_operator(webhook: dict[str, Any]) -> None:
    assert set(webhook["clientConfig"]) == {"service"}


@each_webhook
def test_match_conditions_can_be_what_the_server_takes_them_for(webhook: dict[str, Any]) -> None:
    """That they compile is told by the server itself, in tests/e2e/deploy."""
    conditions = webhook["matchConditions"]
    names = [condition["name"] for condition in conditions]
    assert 0 < len(names) == len(set(names)) <= 64
    for condition in conditions:
        assert re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", condition["name"])
        assert balanced(condition["expression"])


def balanced(expression: str) -> bool:
    """Whether quotes and brackets are closed."""
    bare = re.sub(r"'[^']*'", "", expression)
    waiting: list[str] = []
    pairs = {")": "(", "]": "[", "}": "{"}
    for character in bare:
        if character in pairs.values():
            waiting.append(character)
        elif character in pairs and (not waiting or waiting.pop() != pairs[character]):
            return False
    return bool(bare.strip()) and not waiting and "'" not in bare


def test_what_a_policy_denies_is_denied() -> None:
    policies = {
        each["metadata"]["name"]: each["spec"] for each in of_kind("ValidatingAdmissionPolicy")
    }
    bindings = [each["spec"] for each in of_kind("ValidatingAdmissionPolicyBinding")]
    assert {binding["policyName"] for binding in bindings} == set(policies)
    assert all(binding["validationActions"] == ["Deny"] for binding in bindings)
    assert all(spec["failurePolicy"] == "Fail" for spec in policies.values())


def test_services_and_budget_select_the_pods_and_reach_ports_they_have() -> None:
    template = one("Deployment")["spec"]["template"]
    labels = template["metadata"]["labels"].items()
    ports = {port["containerPort"] for container in containers() for port in container["ports"]}
    for service in of_kind("Service"):
        assert service["spec"]["selector"].items() <= labels
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    for kind, field in (("PodDisruptionBudget", "selector"), ("NetworkPolicy", "podSelector")):
        assert one(kind)["spec"][field]["matchLabels"].items() <= labels


def test_webhooks_reach_the_service() -> None:
    service = one("Service")
    for webhook in WEBHOOKS:
        target = webhook["clientConfig"]["service"]
        assert target["name"] == service["metadata"]["name"]
        assert target["namespace"] == service["metadata"]["namespace"]
        assert target["port"] in {port["port"] for port in service["spec"]["ports"]}


def test_nothing_but_what_is_listed_gets_in_or_out() -> None:
    spec = one("NetworkPolicy")["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    opened = {port["port"]: "from" in rule for rule in spec["ingress"] for port in rule["ports"]}
    assert opened == {9443: False, 9445: True, 9447: True}
    assert all(rule["ports"] for rule in spec["egress"])


def test_a_renewal_goes_before_our_own_work_and_our_work_before_that_of_any_account() -> None:
    schemas = {each["metadata"]["name"]: each["spec"] for each in of_kind("FlowSchema")}
    renewal, work = schemas["grove-operator-leader-election"], schemas["grove-operator"]
    assert renewal["matchingPrecedence"] < work["matchingPrecedence"] < 9000
    assert work["priorityLevelConfiguration"] == {
        "name": one("PriorityLevelConfiguration")["metadata"]["name"]
    }


def test_the_operator_is_told_to_run_every_part_that_declares_rights() -> None:
    told = {each["name"]: each["args"][-1] for each in containers()}
    names = ",".join(component.name for component in components())
    assert told == {
        "grove-operator": f"--controllers={names}",
        "webhooks": "--controllers=webhooks",
    }


def test_the_image_is_built_from_pinned_parts_and_runs_as_nobody() -> None:
    text = (FOLDER / "Dockerfile").read_text()
    (base,) = re.findall(r"^ARG PYTHON=(\S+)$", text, re.MULTILINE)
    assert re.fullmatch(r"[a-z0-9./-]+:3\.\d+\.\d+-slim-[a-z]+", base)
    assert re.findall(r"^FROM (\S+)", text, re.MULTILINE) == ["${PYTHON}", "${PYTHON}"]
    installs = re.findall(r"pip install ([^&\n]*)", text)
    assert all("--require-hashes" in each or "--no-index" in each for each in installs)
    context = one("Deployment")["spec"]["template"]["spec"]["securityContext"]
    assert f"USER {context['runAsUser']}:{context['runAsGroup']}\n" in text
    for source in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        assert all((ROOT / path).exists() for path in source.split())
