# SPDX-License-Identifier: Apache-2.0
"""Cron jobs: a schedule, and the template of a job."""

from __future__ import annotations

import re
import zoneinfo
from functools import lru_cache
from typing import TYPE_CHECKING

from trellis.embedded.fielderrors import FieldError, invalid, not_supported, required
from trellis.embedded.natives.batch.spec import default_job_spec, validate_job_spec
from trellis.embedded.natives.numbers import not_negative
from trellis.embedded.natives.pod.warnings import workload_warnings
from trellis.embedded.natives.strategy import Native

if TYPE_CHECKING:
    from trellis.embedded.asking import Object
    from trellis.embedded.served import Circumstances

_POLICIES = ("Allow", "Forbid", "Replace")
_ZONE_PART = re.compile(r"[A-Za-z._0-9+][A-Za-z.\-_0-9+]{0,13}", re.ASCII)
_FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


class CronJobs(Native):
    def default(self, new: Object) -> None:
        spec = new.setdefault("spec", {})
        spec["concurrencyPolicy"] = spec.get("concurrencyPolicy") or "Allow"
        spec.setdefault("suspend", False)
        spec.setdefault("successfulJobsHistoryLimit", 3)
        spec.setdefault("failedJobsHistoryLimit", 1)
        default_job_spec(spec.setdefault("jobTemplate", {}).setdefault("spec", {}))

    def validate_create(self, new: Object, about: Circumstances) -> list[FieldError]:
        errors = super().validate_create(new, about)
        name = new["metadata"].get("name") or ""
        if len(name) > 52:
            errors.append(invalid("metadata.name", name, "must be no more than 52 characters"))
        return errors

    def warnings(self, new: Object, old: Object | None) -> list[str]:
        return workload_warnings(new, old, "spec.jobTemplate.spec.template")

    def check(self, new: Object) -> list[FieldError]:
        spec = new.get("spec") or {}
        errors: list[FieldError] = []
        if schedule := spec.get("schedule"):
            errors += validate_schedule(schedule, "spec.schedule")
        else:
            errors.append(required("spec.schedule"))
        if (zone := spec.get("timeZone")) is not None:
            errors += _zone(zone, "spec.timeZone")
        policy = spec.get("concurrencyPolicy") or ""
        if policy not in _POLICIES:
            errors.append(not_supported("spec.concurrencyPolicy", policy, _POLICIES))
        template = (spec.get("jobTemplate") or {}).get("spec") or {}
        errors += validate_job_spec(template, "spec.jobTemplate.spec")
        if template.get("selector") is not None:
            at = "spec.jobTemplate.spec.selector"
            errors.append(invalid(at, template["selector"], "`selector` will be auto-generated"))
        numbers = (
            "startingDeadlineSeconds",
            "successfulJobsHistoryLimit",
            "failedJobsHistoryLimit",
        )
        return errors + not_negative(spec, numbers, "spec")


def validate_schedule(schedule: str, path: str) -> list[FieldError]:
    problem = schedule_problem(schedule)
    errors = [invalid(path, schedule, problem)] if problem else []
    if "TZ" in schedule:
        detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        errors.append(invalid(path, schedule, detail))
    return errors


@lru_cache(maxsize=256)
def schedule_problem(schedule: str) -> str:
    """What is wrong with a schedule, in the words of the server's parser."""
    text = schedule.partition(" ")[2] if schedule.startswith(("TZ=", "CRON_TZ=")) else schedule
    if text.startswith("@"):
        return ""
    fields = text.split()
    if len(fields) != 5:
        return f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
    for field, (least, most), names in zip(
        fields, _FIELDS, ((), (), (), _MONTHS, _DAYS), strict=True
    ):
        for part in field.split(","):
            if problem := _range_problem(part, least, most, names):
                return problem
    return ""


def _range_problem(part: str, least: int, most: int, names: tuple[str, ...]) -> str:
    span, _, step = part.partition("/")
    ends = span.split("-")
    if len(ends) > 2:
        return f"too many hyphens: {part}"
    first, last, problem = least, most, ""
    if ends[0] not in {"*", "?"}:
        first, problem = _number(ends[0], least, names)
        last, second = _number(ends[-1], least, names)
        problem = problem or second
    if step:
        problem = problem or _number(step, 0, ())[1]
    if problem:
        return problem
    if first < least:
        return f"beginning of range ({first}) below minimum ({least}): {part}"
    if last > most:
        return f"end of range ({last}) above maximum ({most}): {part}"
    if first > last:
        return f"beginning of range ({first}) beyond end of range ({last}): {part}"
    return ""


def _number(text: str, least: int, names: tuple[str, ...]) -> tuple[int, str]:
    if text.lower() in names:
        return names.index(text.lower()) + least, ""
    if text.isascii() and text.isdigit():
        return int(text), ""
    said = f'strconv.Atoi: parsing "{text}": invalid syntax'
    return 0, f"failed to parse int from {text}: {said}"


def _zone(zone: str, path: str) -> list[FieldError]:
    if not zone:
        return [invalid(path, zone, "timeZone must be nil or non-empty string")]
    if zone.lower() == "local":
        detail = (
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
        return [invalid(path, zone, detail)]
    return [] if _known_zone(zone) else [invalid(path, zone, f"unknown time zone {zone}")]


def _known_zone(zone: str) -> bool:
    if not all(_ZONE_PART.fullmatch(part) and part not in {".", ".."} for part in zone.split("/")):
        return False
    try:
        zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
