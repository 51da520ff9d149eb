# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from types import ModuleType

import pytest

from trellis.api.reasons import CATALOGUE, Reason, TwiceInTheCatalogue, Who, catalogue
from trellis.api.reasons.reason import NOTHING, WAIT

# Words that clients compare with, exactly as Grove and the source documents have them.
_EXACT = """
SufficientScheduledPods InsufficientScheduledPods ScheduledReplicasBelowMinAvailable
SufficientReadyPods InsufficientReadyPods UpdateInProgress
SufficientAvailablePodCliqueScalingGroupReplicas
InsufficientAvailablePodCliqueScalingGroupReplicas
PodGangPodsCreationPending PodGangPodsCreated AllScheduledReplicasLost
AllClusterTopologyLevelsAvailable ClusterTopologyLevelsUnavailable ClusterTopologyNotFound
TopologyNameMissing TopologyAwareSchedulingDisabled InSync Drift TopologyNotFound
TopologyInSync TopologyDriftDetected KAIBackendMappingFailed VolcanoCapabilityUnavailable
TopologyReady TopologyCreationOrUpdateFailed KAITopologyCreationOrUpdateFailed
KAITopologyCreationFailed KAI_TOPOLOGY_CREATE_ERROR TopologyLevelNotFound TopologyDisabled
PodCliqueCreateOrUpdateSuccessful PodCliqueCreateOrUpdateFailed PodCliqueCreateSuccessful
PodCliqueCreateFailed PodCliqueDeleteSuccessful PodCliqueDeleteFailed
PodCliqueScalingGroupCreateSuccessful PodCliqueScalingGroupCreateOrUpdateFailed
PodCliqueScalingGroupDeleteSuccessful PodCliqueScalingGroupDeleteFailed
PodCliqueScalingGroupReplicaDeleteSuccessful PodCliqueScalingGroupReplicaDeleteFailed
PodGangCreateOrUpdateSuccessful PodGangCreateOrUpdateFailed PodGangDeleteSuccessful
PodGangDeleteFailed PodCliqueSetReplicaDeleteSuccessful PodCliqueSetReplicaDeleteFailed
PodCreateSuccessful PodCreateFailed PodDeleteSuccessful PodDeleteFailed
ComputeDomainCreateSuccessful ComputeDomainCreateFailed ComputeDomainDeleteSuccessful
ComputeDomainDeleteFailed ProgressDeadlineExceeded NameConflict
"""


@pytest.mark.parametrize("token", re.findall(r"\w+", _EXACT))
def test_a_word_that_clients_know_is_in_the_catalogue(token: str) -> None:
    assert CATALOGUE[token].token == token


@pytest.mark.parametrize("reason", CATALOGUE.values(), ids=list(CATALOGUE))
def test_a_reason_is_a_legal_one_and_helps(reason: Reason) -> None:
    # What the API server allows for the reason of a condition.
    assert re.fullmatch(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?", reason.token)
    assert reason.sentence[0].isupper()
    assert reason.sentence.endswith(".")
    assert reason.remedy.endswith(".")
    assert (reason.remedy == NOTHING) == (reason.who == (Who.NOBODY,))
    assert str(reason) == reason.token


def test_a_state_is_no_reason() -> None:
    assert not {"Pending", "Failed", "Running", "Unknown", "Error"} & CATALOGUE.keys()


def test_one_word_cannot_mean_two_things() -> None:
    room = ModuleType("room")
    vars(room).update(
        A=Reason("Same", WAIT, "One.", "Wait."), B=Reason("Same", WAIT, "Other.", "Wait.")
    )
    with pytest.raises(TwiceInTheCatalogue, match="Same"):
        catalogue(room)
