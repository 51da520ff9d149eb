# SPDX-License-Identifier: Apache-2.0
"""What of a pod spec rolls pods, and what says nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.api.builders import POD_SPEC, a_clique
from tests.unit.api.usual import PULLED, SAYS_NOTHING, a_pod, in_container, in_volume
from trellis.api.hashes import template_hash
from trellis.api.usual import without_usual

Json = dict[str, Any]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["containers", "resources", "limits", "env", "value"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


def hash_of(pod_spec: Json) -> str:
    return template_hash(a_clique(pod_spec))


@pytest.mark.parametrize(("short", "long"), SAYS_NOTHING.values(), ids=SAYS_NOTHING.keys())
def test_what_makes_the_same_pod_is_no_update(short: Json, long: Json) -> None:
    assert short != long
    assert hash_of(short) == hash_of(long)


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(a_pod(shareProcessNamespace=False), id="a switch that may be unset"),
        pytest.param(a_pod(automountServiceAccountToken=False), id="no token"),
        pytest.param(a_pod(enableServiceLinks=False), id="no links"),
        pytest.param(a_pod(setHostnameAsFQDN=False), id="no full name"),
        pytest.param(a_pod(hostUsers=True), id="users of the host"),
        pytest.param(a_pod(hostNetwork=True), id="the network of the host"),
        pytest.param(a_pod(affinity={}), id="an affinity to nothing"),
        pytest.param(a_pod(resources={}), id="the pod's own resources"),
        pytest.param(a_pod(nodeSelector={"pool": ""}), id="a selector of an empty label"),
        pytest.param(a_pod(dnsPolicy="Default"), id="another DNS policy"),
        pytest.param(a_pod(preemptionPolicy="Never"), id="no preemption"),
        pytest.param(a_pod(restartPolicy="Never"), id="another restart policy"),
        pytest.param(a_pod(schedulerName="kai-scheduler"), id="another scheduler"),
        pytest.param(a_pod(terminationGracePeriodSeconds=0), id="no grace"),
        pytest.param(a_pod(serviceAccountName="builder"), id="another account"),
        pytest.param(a_pod(securityContext={"runAsUser": 0}), id="a user"),
        pytest.param(in_container(securityContext={}), id="the security of a container"),
        pytest.param(in_container(securityContext={"privileged": False}), id="no privileges"),
        pytest.param(in_container(stdin=True), id="an input"),
        pytest.param(in_container(args=[""]), id="an empty argument"),
        pytest.param(in_container(env=[{"name": "A"}]), id="an empty variable"),
        pytest.param(in_container(resources={"limits": {"cpu": "0"}}), id="a limit of zero"),
        pytest.param(in_container(livenessProbe={}), id="a probe"),
        pytest.param(in_volume(emptyDir={}), id="a volume"),
    ],
)
def test_what_makes_another_pod_is_an_update(told: Json) -> None:
    assert hash_of(told) != hash_of(POD_SPEC)


@pytest.mark.parametrize("image", PULLED)
def test_an_image_that_is_pulled_at_another_time_is_an_update(image: str) -> None:
    others = {"Always", "IfNotPresent", "Never"} - {PULLED[image]}
    plain = hash_of(in_container(image=image))
    assert all(hash_of(in_container(image=image, imagePullPolicy=one)) != plain for one in others)


@pytest.mark.parametrize("container", [{}, {"image": None}, {"image": 1}])
def test_when_to_pull_no_image_is_what_it_says(container: Json) -> None:
    spec = {"containers": [container | {"imagePullPolicy": "IfNotPresent"}]}
    assert without_usual(spec)["containers"][0]["imagePullPolicy"] == "IfNotPresent"


@pytest.mark.parametrize("name", ["dnsPolicy", "nodeSelector", "hostNetwork", "securityContext"])
def test_the_same_words_elsewhere_are_just_words(name: str) -> None:
    usual = {"dnsPolicy": "ClusterFirst", "hostNetwork": False}.get(name, {})
    assert hash_of(a_pod(brandNew={name: usual})) != hash_of(a_pod(brandNew={}))


@given(JSON)
def test_what_is_left_stays_and_the_spec_itself_is_not_changed(value: Any) -> None:
    spec = {"containers": value, "volumes": value}
    before = repr(spec)
    plain = without_usual(spec)
    assert without_usual(plain) == plain
    assert repr(spec) == before
