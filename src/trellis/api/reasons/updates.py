# SPDX-License-Identifier: Apache-2.0
"""How updates go."""

from __future__ import annotations

from trellis.api.reasons.reason import WAIT, YOU, Reason, well

UPDATE_IN_PROGRESS = Reason(
    "UpdateInProgress", WAIT, "An update is being rolled out.", "Wait until it ends."
)
UPDATE_STARTED = Reason("UpdateStarted", WAIT, "An update has begun.", "Wait until it ends.")
UPDATE_STEP = Reason(
    "UpdateStep", WAIT, "Outdated pods are being replaced.", "Wait until the update ends."
)
UPDATE_COMPLETED = well("UpdateCompleted", "The last update has reached everything.")
NO_UPDATE = well("NoUpdate", "Everything is as its template says.")
UPDATE_WAITS_FOR_DELETION = Reason(
    "UpdateWaitsForDeletion",
    YOU,
    "Some pods still have an older template, and OnDelete leaves them until they are deleted.",
    "Delete the outdated pods when it suits you.",
)
PROGRESS_DEADLINE_EXCEEDED = Reason(
    "ProgressDeadlineExceeded",
    YOU,
    "The update has not moved for longer than progressDeadline.",
    "Look at the pods with the new template; correct the template if it is at fault.",
)
