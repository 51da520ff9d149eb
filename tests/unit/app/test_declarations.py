# SPDX-License-Identifier: Apache-2.0
"""From declarations of one part to what is installed for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.app.builders import a_component, a_webhook
from trellis.api.core.pod import Pod
from trellis.api.grove.clustertopology import ClusterTopology
from trellis.api.permissions import Grant
from trellis.api.schema.kinds import KINDS
from trellis.app.manifests.bundle import base, parts
from trellis.app.manifests.declarations import FailurePolicy, MatchCondition, Rule, WebhookKind
from trellis.app.manifests.installation import Installation
from trellis.app.manifests.userroles import user_roles

if TYPE_CHECKING:
    from trellis.app.manifests.declarations import Component, Manifest

INSTALLATION = Installation(namespace="elsewhere", name="somebody")


def made(part: str, *components: Component) -> tuple[Manifest, ...]:
    return parts(components, INSTALLATION)[part]


def rules_of(kind: str, *components: Component) -> list[Manifest]:
    (role,) = (each for each in made("rbac", *components) if each["kind"] == kind)
    found: list[Manifest] = role["rules"]
    return found


def test_a_webhook_is_served_by_the_service_of_this_installation() -> None:
    (configuration,) = made("webhooks", a_component(webhooks=(a_webhook(),)))
    (webhook,) = configuration["webhooks"]
    service = webhook["clientConfig"]["service"]
    assert service == {"namespace": "elsewhere", "name": "somebody", "path": "/sets", "port": 443}


def test_webhooks_of_one_configuration_are_together_in_order_of_their_names() -> None:
    second, first = (a_webhook(name=f"{name}.example.com", path=f"/{name}") for name in "ba")
    other = a_webhook(configuration="others")
    found = made("webhooks", a_component(webhooks=(second, other)), a_component(webhooks=(first,)))
    assert [each["metadata"]["name"] for each in found] == ["others", "sets"]
    assert [each["name"] for each in found[1]["webhooks"]] == ["a.example.com", "b.example.com"]


def test_a_mutating_webhook_is_asked_again_after_others_have_changed_the_object() -> None:
    mutating = a_component(webhooks=(a_webhook(WebhookKind.MUTATING),))
    (configuration,) = made("webhooks", mutating)
    assert configuration["kind"] == "MutatingWebhookConfiguration"
    assert configuration["webhooks"][0]["reinvocationPolicy"] == "IfNeeded"


def test_a_webhook_for_the_kinds_of_others_may_fail_open_under_conditions_of_its_own() -> None:
    ours = MatchCondition(name="ours", expression="'x' in object.metadata.labels")
    hook = a_webhook(
        rules=(Rule(resource=Pod.resource, operations=("CREATE",)),),
        conditions=(ours,),
        failure_policy=FailurePolicy.IGNORE,
        timeout_seconds=1,
    )
    (webhook,) = made("webhooks", a_component(webhooks=(hook,)))[0]["webhooks"]
    assert (webhook["failurePolicy"], webhook["timeoutSeconds"]) == ("Ignore", 1)
    assert webhook["matchConditions"] == [{"name": ours.name, "expression": ours.expression}]
    assert webhook["rules"] == [
        {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "resources": ["pods"],
            "scope": "Namespaced",
            "operations": ["CREATE"],
        }
    ]


def test_a_rule_for_a_kind_without_a_namespace_says_so() -> None:
    hook = a_webhook(rules=(Rule(resource=ClusterTopology.resource),))
    (webhook,) = made("webhooks", a_component(webhooks=(hook,)))[0]["webhooks"]
    assert webhook["rules"][0]["scope"] == "Cluster"


@pytest.mark.parametrize("kind", WebhookKind)
def test_the_operator_may_publish_its_authorities_in_its_own_configurations_alone(
    kind: WebhookKind,
) -> None:
    component = a_component(webhooks=(a_webhook(kind), a_webhook(kind, configuration="more")))
    (rule,) = (
        rule
        for rule in rules_of("ClusterRole", component)
        if "admissionregistration.k8s.io" in rule["apiGroups"]
    )
    assert rule["resources"] == [f"{kind.value.lower()}s"]
    assert rule["resourceNames"] == ["more", "sets"]
    assert rule["verbs"] == ["get", "patch"]


def test_rights_of_all_parts_end_up_in_one_role() -> None:
    parts_of_it = [
        a_component(name, grants=(Grant(group="", resources=(name,), verbs=("get",)),))
        for name in ("services", "pods")
    ]
    assert {
        "apiGroups": [""],
        "resources": ["pods", "services"],
        "verbs": ["get"],
    } in rules_of("ClusterRole", *parts_of_it)


def test_every_part_is_started() -> None:
    deployment, _ = made("deployment", a_component("a"), a_component("b.c"))
    arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    assert arguments[-1] == "--controllers=a,b.c"


def test_a_policy_is_told_for_which_installation_it_is_and_is_labelled() -> None:
    def policies(installation: Installation) -> list[Manifest]:
        metadata = {"name": installation.namespace, "annotations": {"a": "b"}}
        return [{"kind": "ValidatingAdmissionPolicy", "metadata": metadata}]

    (policy,) = made("policies", a_component(policies=policies))
    assert policy["metadata"]["name"] == "elsewhere"
    assert policy["metadata"]["annotations"] == {"a": "b"}
    assert policy["metadata"]["labels"]["app.kubernetes.io/part-of"] == "grove"


def test_parts_without_policies_and_webhooks_leave_no_empty_files() -> None:
    written = base(parts([a_component()], INSTALLATION))
    assert not {"kustomize/base/policies.yaml", "kustomize/base/webhooks.yaml"} & set(written)


@pytest.mark.parametrize(
    ("role", "resource", "verbs"),
    [
        ("view", "podcliquesets", "get list watch"),
        ("view", "podgangs", "get list watch"),
        ("view", "clustertopologies", "get list watch"),
        ("edit", "podcliquesets", "create delete deletecollection patch update"),
        ("edit", "podcliquesets/scale", "get patch update"),
        ("edit", "podcliques", "delete"),
        ("edit", "podcliquescalinggroups/scale", "get patch update"),
        ("edit", "podgangs", ""),
        ("edit", "clustertopologies", ""),
        ("admin", "podgangs", "create delete deletecollection patch update"),
        ("admin", "podcliques", "create delete deletecollection patch update"),
        ("admin", "clustertopologies", ""),
    ],
)
def test_users_may(role: str, resource: str, verbs: str) -> None:
    (found,) = (
        each
        for each in user_roles(KINDS, INSTALLATION)
        if each["metadata"]["labels"].get(f"rbac.authorization.k8s.io/aggregate-to-{role}")
    )
    held = [rule["verbs"] for rule in found["rules"] if resource in rule["resources"]]
    assert " ".join(verb for each in held for verb in each) == verbs
