# SPDX-License-Identifier: Apache-2.0
"""Kinds that a user defines."""

from __future__ import annotations

from tests.conformance.clients.story import Kubectl, Story, Until

_DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: "sets.{id}.example.com"}
spec:
  group: "{id}.example.com"
  scope: Namespaced
  names: {plural: sets, singular: set, kind: Set, shortNames: ["s{id}"], categories: ["all{id}"]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Replicas, type: integer, jsonPath: .spec.replicas}
    - {name: Phase, type: string, jsonPath: .status.phase, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        description: A set of things.
        properties:
          spec:
            type: object
            description: What is wanted.
            required: [replicas]
            properties:
              replicas: {type: integer, minimum: 0, maximum: 9, description: How many.}
              mode: {type: string, enum: [a, b], default: a}
            x-kubernetes-validations:
            - {rule: "self.mode == 'a' || self.replicas < 5", message: b is small}
          status:
            type: object
            properties:
              replicas: {type: integer}
              phase: {type: string}
"""


def a_set(spec: str) -> str:
    return (
        f'apiVersion: "{{id}}.example.com/v1"\nkind: Set\nmetadata: {{name: one}}\nspec: {spec}\n'
    )


_SETS = "sets.{id}.example.com"
_EXPLAINED = "explain sets.spec --api-version={id}.example.com/v1"

STORIES = [
    Story(
        "a custom kind is defined and used as any other",
        Kubectl("apply -f -", _DEFINITION),
        f"wait crd/{_SETS} --for=condition=Established --timeout=30s",
        Until("api-resources --api-group={id}.example.com -o name", "sets.<id>.example.com"),
        "api-resources --api-group={id}.example.com",
        Until(_EXPLAINED, "How many"),
        _EXPLAINED,
        Kubectl("apply -f -", a_set("{replicas: 2}")),
        Kubectl("apply -f -", a_set("{replicas: 2}")),
        Kubectl("apply -f -", a_set("{replicas: 3, mode: b}")),
        Kubectl("apply -f -", a_set("{replicas: 7, mode: b}")),
        Kubectl("apply -f -", a_set("{replicas: many, mode: c}")),
        Kubectl("apply -f -", a_set("{replicas: 1, extra: 1}")),
        Kubectl("apply --server-side -f -", a_set("{replicas: 1, extra: 1}")),
        Kubectl("diff -f -", a_set("{replicas: 4}")),
        "get s{id}",
        "get all{id} -o wide",
        f"scale {_SETS} one --replicas=4",
        f"get {_SETS} one -o yaml --show-managed-fields",
        f"get {_SETS} one --subresource=scale -o jsonpath={{.spec.replicas}}",
        f'patch {_SETS} one --type=merge -p \'{{"spec":{{"replicas":5}}}}\'',
        f"patch {_SETS} one --type=json -p "
        '\'[{"op":"replace","path":"/spec/replicas","value":6}]\'',
        f"patch {_SETS} one -p '{{}}'",
        f"patch {_SETS} one --subresource=status --type=merge -p "
        '\'{"status":{"phase":"Fine","replicas":6}}\'',
        f"get {_SETS} one -o wide",
        f"describe {_SETS} one",
        f"label {_SETS} one a=b",
        f"delete {_SETS} one",
        f"describe crd {_SETS}",
        f"delete crd {_SETS}",
        cleanup=(f"delete crd {_SETS} --ignore-not-found --wait=false",),
    ),
]
