# SPDX-License-Identifier: Apache-2.0
"""What of a day is news: its incidents, but for those that are as they were the day before."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from kafka_lag.wording.formatting import format_list
from kafka_lag_report.findings import Findings, GroupDay
from kafka_lag_report.incident import LEVELS, Incident, Kind
from kafka_lag_report.sentences import LONGEST_NAME, name_of
from kafka_lag_report.thresholds import SAME_INCIDENT_SECONDS

_SOME_GROUPS = 3
_UNSEEN, _NEW, _MISSING = "without snapshots", "new", "no longer seen"


@dataclass(frozen=True, slots=True)
class Change:
    """`text` is a sentence without its cluster; `what` is said after a number: `2 stalled`.

    `rank` sorts, least first; `count` is how many groups it stands for. `pressing`: it is broken
    now, or records were lost.
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
    """What is news of each cluster, worst first; `today` and `previous` by cluster.

    Without a day before all incidents are news, and no group is new. `previous` holds the clusters
    that the run was asked for and no others: one that is missing today is reported.
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
            found += _come_and_gone(findings, before)
    return tuple(sorted(found, key=lambda each: (each.rank, each.cluster, each.text)))


def count_old(today: Mapping[str, Findings], previous: Mapping[str, Findings]) -> int:
    """How many incidents are as they were at the end of the day before."""
    return sum(
        _is_old(one, findings, previous.get(cluster))
        for cluster, findings in today.items()
        for one in findings.incidents
    )


def _is_old(one: Incident, today: Findings, before: Findings | None) -> bool:
    """Whether the day before has it, it is still so, and no more was lost since."""
    if before is None:
        return False
    then = [each for each in before.incidents if each.key == one.key]
    if one.kind in (Kind.UNEVEN, Kind.UNUSUAL):
        # these have no end; that of keys lasts, unusual hours are another day's
        return bool(then) and one.kind == Kind.UNEVEN
    lasts = one.still and _has_been_so(one, today)
    return lasts and any(
        each.still
        and (one.records_lost or 0) <= (each.records_lost or 0)
        and LEVELS.index(each.level) <= LEVELS.index(one.level)
        for each in then
    )


def _has_been_so(one: Incident, today: Findings) -> bool:
    """Whether it began before the day, or so soon that both are one incident's parts."""
    begin = today.first_run or datetime.combine(today.day, time(), UTC)
    return one.since is None or one.since <= begin + timedelta(seconds=SAME_INCIDENT_SECONDS)


def _come_and_gone(today: Findings, previous: Findings) -> Iterator[Change]:
    """Of days of which all groups are known."""
    if not today.groups.total or today.groups.more or previous.groups.more:
        return
    now, then = _there(today.groups.rows), _there(previous.groups.rows)
    # one that is known to be deleted has an incident
    deleted = {day.group for day in today.groups.rows if day.gone}
    for place, what, names in (
        (1.0, _MISSING, then - now - deleted),
        (2.0, _NEW, now - then),
    ):
        if names:
            listed = format_list(
                [name_of(name, LONGEST_NAME) for name in sorted(names)], _SOME_GROUPS
            )
            said = f"{'new groups' if what == _NEW else 'groups no longer seen'}: {listed}"
            yield Change(what, today.cluster, said, (float(len(LEVELS)), place), count=len(names))


def _there(days: Sequence[GroupDay]) -> set[str]:
    """The groups that were not deleted that day."""
    return {day.group for day in days if not day.gone}
