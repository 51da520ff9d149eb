# SPDX-License-Identifier: Apache-2.0
"""As whom each controller asks: webhooks and policies know the real ones by these names."""

from __future__ import annotations

from trellis.kube.client import Client

_ACCOUNTS = {
    "garbage-collector": "generic-garbage-collector",
    "namespace": "namespace-controller",
    "serviceaccount": "service-account-controller",
    "root-ca": "root-ca-cert-publisher",
    "job": "job-controller",
    "replicaset": "replicaset-controller",
    "deployment": "deployment-controller",
    "daemonset": "daemon-set-controller",
    "disruption": "disruption-controller",
    "resourceclaim-pod": "resource-claim-controller",
    "resourceclaim": "resource-claim-controller",
    "node-lifecycle": "node-controller",
    "podgc": "pod-garbage-collector",
    "clusterrole-aggregation": "clusterrole-aggregation-controller",
    "policy-status": "validatingadmissionpolicy-status-controller",
}


def acting(client: Client, controller: str) -> Client:
    """A client by the name of the controller's service account, and with the rights of an admin.

    The roles of the real ones would not do: those replace where ours patch. Whoever asks must be
    allowed to impersonate.
    """
    found = Client(client.transport, client.clock, client.rng, manager=client.manager)
    user = f"system:serviceaccount:kube-system:{_ACCOUNTS[controller]}"
    named = (("Impersonate-User", user), ("Impersonate-Group", "system:masters"))
    found.headers = (*client.headers, *named)
    found.gate = client.gate
    return found
