# SPDX-License-Identifier: Apache-2.0
"""Finds what changed since the day before: new incidents, and groups that came or went."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from kafka_lag.wording.formatting import format_list
from kafka_lag_report.findings import Findings
from kafka_lag_report.incident import LEVELS, Incident, Kind
from kafka_lag_report.schemas import Row
from kafka_lag_report.sentences import LONGEST_NAME, word_name
from kafka_lag_report.thresholds import SAME_INCIDENT_SECONDS

_SOME_GROUPS = 3
_UNSEEN, _NEW, _MISSING = "without snapshots", "new", "no longer seen"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that changed since the day before, ready to be listed in the message.

    `text` is a sentence without the cluster's name. `what` follows a number, as in `2 stalled`.
    `rank` is the sort key; the smallest comes first. `count` is the number of groups that the
    change is about. `pressing` means that something is broken now, or that records were lost.
    """

    what: str
    cluster: str
    text: str
    rank: tuple[float | str, ...]
    count: int = 1
    pressing: bool = False


def find_changes(
    today: Mapping[str, Findings], previous: Mapping[str, Findings]
) -> tuple[Change, ...]:
    """Returns the changes of all clusters, worst first.

    `today` and `previous` are keyed by cluster. A cluster without findings of the day before
    reports all its incidents, and none of its groups as new. `previous` must hold only clusters
    that the run was asked for, because each of them that is missing from `today` is reported.
    """
    found = [
        Change(_UNSEEN, cluster, "no snapshots of this day", (-1.0,), pressing=True)
        for cluster in sorted(previous.keys() - today.keys())
    ]
    for cluster, findings in today.items():
        before = previous.get(cluster)
        found += (
            Change(one.kind.words, cluster, one.text, one.order, pressing=one.is_pressing)
            for one in findings.incidents
            if not _is_old(one, findings, before)
        )
        if before and before.groups.total:
            found += _find_new_and_missing(findings, before)
    return tuple(sorted(found, key=lambda each: (each.rank, each.cluster, each.text)))


def count_old(today: Mapping[str, Findings], previous: Mapping[str, Findings]) -> int:
    """Returns the number of today's incidents that have not changed since the day before ended."""
    return sum(
        _is_old(one, findings, previous.get(cluster))
        for cluster, findings in today.items()
        for one in findings.incidents
    )


def _is_old(one: Incident, today: Findings, before: Findings | None) -> bool:
    """Returns whether the day before ended with this incident, and it goes on without being worse.

    Worse means a more severe level or more lost records. Unusual hours are never old. Uneven keys
    are old if the day before had them too.
    """
    if before is None:
        return False
    then = [each for each in before.incidents if each.key == one.key]
    if one.kind in (Kind.UNEVEN, Kind.UNUSUAL):
        # neither kind has an end: uneven keys last, unusual hours belong to their day
        return bool(then) and one.kind == Kind.UNEVEN
    lasts = one.still and _began_before(one, today)
    return lasts and any(
        each.still
        and (one.records_lost or 0) <= (each.records_lost or 0)
        and LEVELS.index(each.level) <= LEVELS.index(one.level)
        for each in then
    )


def _began_before(one: Incident, today: Findings) -> bool:
    """Returns whether the incident began before the day, or up to 10 min after its first run."""
    begin = today.first_run or datetime.combine(today.day, time(), UTC)
    return one.since is None or one.since <= begin + timedelta(seconds=SAME_INCIDENT_SECONDS)


def _find_new_and_missing(today: Findings, previous: Findings) -> Iterator[Change]:
    """Yields a change for new groups and one for groups no longer seen.

    Yields nothing if the list of groups of either day was cut, or if today has no groups. Groups
    that are known to be deleted are left out, because each of them has an incident.
    """
    if not today.groups.total or today.groups.more or previous.groups.more:
        return
    now, then = _find_existing(today.groups.rows), _find_existing(previous.groups.rows)
    # a group that is known to be deleted has an incident
    deleted = {day["consumer_group"] for day in today.groups.rows if day["gone"]}
    for place, what, names in (
        (1.0, _MISSING, then - now - deleted),
        (2.0, _NEW, now - then),
    ):
        if names:
            listed = format_list(
                [word_name(name, LONGEST_NAME) for name in sorted(names)], _SOME_GROUPS
            )
            said = f"{'new groups' if what == _NEW else 'groups no longer seen'}: {listed}"
            yield Change(what, today.cluster, said, (float(len(LEVELS)), place), count=len(names))


def _find_existing(days: Sequence[Row]) -> set[str]:
    """Returns the names of the groups that were not deleted on that day."""
    return {day["consumer_group"] for day in days if not day["gone"]}
