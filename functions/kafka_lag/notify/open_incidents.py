# SPDX-License-Identifier: Apache-2.0
"""Open incidents as a channel last reported them, and their JSON in its cursor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypeAlias, TypeVar

from kafka_lag import contract
from kafka_lag.notify.backlog import Backlog, CatchingUp, Peak, Skip
from kafka_lag.notify.troubles import OpenTrouble

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Absence:
    """A group without a row: the last run with a row, and the first one without, ms UTC."""

    last_seen: int
    since: int


@dataclass(frozen=True, slots=True)
class Incident:
    """One group's: the held status, and since when all is not well, ms UTC.

    `troubles` are open ones by name; the status may be OK beside them. A near loss is reported once
    an incident: then `near_reported` is true. `missing` is known where the newest run has no row of
    the group. `status_since`, `worst_status` and `worst_since`, its beginning, are those last
    reported, None where the status is OK and nothing is left to work off, or an older release
    reported it. `backlog` is of the last run that was not OK, `peak` the greatest, and `lately` are
    those of the last runs. `first_seen_ill`: no run saw the group OK before; `first_seen_at`, ms
    UTC, is known where the beginning is the first sight of the group. `catching_up` is known where
    the group was reported to be. `skip` is known where a backlog went by one, with nobody to read
    on: that ends nothing.
    """

    status: str
    since: int
    missing: Absence | None = None
    troubles: Mapping[str, OpenTrouble] = field(default_factory=dict)
    near_reported: bool = False
    status_since: int | None = None
    worst_status: str | None = None
    worst_since: int | None = None
    backlog: Backlog | None = None
    first_seen_ill: bool = False
    first_seen_at: int | None = None
    peak: Peak | None = None
    lately: tuple[Backlog, ...] = ()
    catching_up: CatchingUp | None = None
    skip: Skip | None = None


# By group; a group that is not here was last reported as well, or never.
OpenIncidents: TypeAlias = Mapping[str, Incident]


@dataclass(frozen=True, slots=True)
class Reported:
    """The newest run of a cluster that a channel has reported, ms UTC, and incidents open then."""

    cluster: str
    taken_at: int
    incidents: OpenIncidents


def encode_incident(incident: Incident) -> dict[str, Any]:
    """Return JSON with keys in this order; a value that is unknown or false has no key."""
    content = {
        "status": incident.status,
        "incident_since": incident.since,
        "last_seen": incident.missing and incident.missing.last_seen,
        "missing_since": incident.missing and incident.missing.since,
        "troubles": {name: asdict(each) for name, each in incident.troubles.items()} or None,
        "near_reported": incident.near_reported or None,
        "status_since": incident.status_since,
        "worst_status": incident.worst_status,
        "worst_since": incident.worst_since,
        "backlog": incident.backlog and asdict(incident.backlog),
        "first_seen_ill": incident.first_seen_ill or None,
        "first_seen_at": incident.first_seen_at,
        "peak": incident.peak and asdict(incident.peak),
        "lately": [[each.records, each.at] for each in incident.lately] or None,
        "catching_up": incident.catching_up and _encode_catching_up(incident.catching_up),
        "skip": incident.skip and asdict(incident.skip),
    }
    return {name: value for name, value in content.items() if value is not None}


def decode_incident(content: Any) -> Incident:
    """Return the incident in JSON of any release; a key that an older release lacks is unknown.

    Raises ValueError, TypeError, KeyError or AttributeError if it is not an incident.
    """
    if content["status"] not in contract.GROUP_STATUS_VALUES:
        raise ValueError(f"status {content['status']}")

    def decode(name: str, decode_value: Callable[[Any], _T]) -> _T | None:
        value = content.get(name)
        return None if value is None else decode_value(value)

    troubles = {
        str(name): OpenTrouble(int(each["since"]), int(each["seen_at"]), each["most"])
        for name, each in content.get("troubles", {}).items()
    }
    return Incident(
        status=content["status"],
        since=int(content["incident_since"]),
        missing=decode(
            "missing_since", lambda since: Absence(int(content["last_seen"]), int(since))
        ),
        troubles=troubles,
        near_reported=bool(content.get("near_reported")),
        status_since=decode("status_since", int),
        worst_status=content.get("worst_status"),
        worst_since=decode("worst_since", int),
        backlog=decode("backlog", _decode_backlog),
        first_seen_ill=bool(content.get("first_seen_ill")),
        first_seen_at=decode("first_seen_at", int),
        peak=decode("peak", lambda peak: Peak(**_select_fields(Peak, peak))),
        lately=tuple(Backlog(int(records), int(at)) for records, at in content.get("lately", ())),
        catching_up=decode("catching_up", _decode_catching_up),
        skip=decode("skip", _decode_skip),
    )


def _decode_backlog(content: Any) -> Backlog:
    return Backlog(**_select_fields(Backlog, content))


def _encode_catching_up(catching_up: CatchingUp) -> dict[str, int]:
    least = catching_up.least
    return {"since": catching_up.since, "records": least.records, "at": least.at}


def _decode_catching_up(content: Any) -> CatchingUp:
    since, *least = (int(content[name]) for name in ("since", "records", "at"))
    return CatchingUp(since, Backlog(*least))


def _decode_skip(content: Any) -> Skip:
    before, after = (_decode_backlog(content[name]) for name in ("before", "after"))
    return Skip(int(content["records"]), before, after)


def _select_fields(kind: type, content: Any) -> dict[str, Any]:
    """Return the fields that this release knows."""
    return {each.name: content[each.name] for each in fields(kind) if each.name in content}
