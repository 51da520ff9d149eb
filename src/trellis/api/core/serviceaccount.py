# SPDX-License-Identifier: Apache-2.0
"""ServiceAccount: as whom the pods of a set wait for each other."""

from __future__ import annotations

from typing import ClassVar

from trellis.api.meta import Object, Resource


class ServiceAccount(Object, frozen=True, kw_only=True):
    """A ServiceAccount."""

    resource: ClassVar = Resource("", "v1", "ServiceAccount", "serviceaccounts")

    automount_service_account_token: bool | None = None
