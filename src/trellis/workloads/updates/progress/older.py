# SPDX-License-Identifier: Apache-2.0
"""`rollingUpdateProgress`, which older operators read and write: kept beside the newer field. Pure.

What an older operator has begun is taken over from it. Its lists of names are not written: nobody
decides by them, and they would grow with the set.
"""

from __future__ import annotations

from typing import TypeVar

from trellis.api.grove.updates import (
    CliqueProgress,
    GroupProgress,
    OldGroupProgress,
    OldSetProgress,
    SetProgress,
)

T = TypeVar("T", SetProgress, CliqueProgress, GroupProgress)


def set_progress(newer: SetProgress | None, older: OldSetProgress | None) -> SetProgress | None:
    """The one that was begun last."""
    if older is None:
        return newer
    current = older.currently_updating
    read = SetProgress(
        update_started_at=older.update_started_at,
        update_ended_at=older.update_ended_at,
        currently_updating=(current,) if current is not None else (),
    )
    return _later(newer, read)


def group_progress(
    newer: GroupProgress | None, older: OldGroupProgress | None
) -> GroupProgress | None:
    if older is None:
        return newer
    read = GroupProgress(
        update_started_at=older.update_started_at,
        update_ended_at=older.update_ended_at,
        pod_clique_set_generation_hash=older.pod_clique_set_generation_hash,
        updated_pod_cliques_count=older.updated_pod_cliques_count or len(older.updated_pod_cliques),
        total_pod_cliques_count=older.total_pod_cliques_count,
        ready_replica_indices_selected_to_update=older.ready_replica_indices_selected_to_update,
    )
    return _later(newer, read)


def clique_progress(
    newer: CliqueProgress | None, older: CliqueProgress | None
) -> CliqueProgress | None:
    return newer if older is None else _later(newer, older)


def older_set(progress: SetProgress | None) -> OldSetProgress | None:
    if progress is None:
        return None
    return OldSetProgress(
        update_started_at=progress.update_started_at,
        update_ended_at=progress.update_ended_at,
        currently_updating=next(iter(progress.currently_updating), None),
    )


def older_group(progress: GroupProgress | None) -> OldGroupProgress | None:
    if progress is None:
        return None
    return OldGroupProgress(
        update_started_at=progress.update_started_at,
        update_ended_at=progress.update_ended_at,
        pod_clique_set_generation_hash=progress.pod_clique_set_generation_hash,
        updated_pod_cliques_count=progress.updated_pod_cliques_count,
        total_pod_cliques_count=progress.total_pod_cliques_count,
        ready_replica_indices_selected_to_update=progress.ready_replica_indices_selected_to_update,
    )


def _later(newer: T | None, older: T) -> T:
    if newer is None or newer.update_started_at is None:
        return older
    started = older.update_started_at
    return older if started is not None and started > newer.update_started_at else newer
