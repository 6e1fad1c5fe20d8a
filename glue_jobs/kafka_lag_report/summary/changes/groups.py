# SPDX-License-Identifier: Apache-2.0
"""Groups that come, go, fail their SLA, or have an hour unlike their usual ones."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from kafka_lag_report.summary.changes.change import Change, Kind
from kafka_lag_report.summary.findings import Findings, Group, GroupDay, Hour, Unusual
from kafka_lag_report.summary.wording import counted, percent, shown, span

LONGEST_NAME = 60
_SOME = 3


def changes(today: Findings, before: Findings) -> Iterator[Change]:
    """Of SLA, status, what is unusual, and which groups there are."""
    for group, day in today.groups.items():
        yield from _group(group, day, before.groups.get(group, GroupDay()))
    yield from _unusual(today)
    if "lag_summary" not in today.cut | before.cut:
        yield from _come_and_gone(today, before)


def _group(group: Group, day: GroupDay, was: GroupDay) -> Iterator[Change]:
    name, now, then = shown(group.group, LONGEST_NAME), day.sla_compliance, was.sla_compliance
    if day.missed_sla and not was.missed_sla:
        told = "" if then is None else f", {percent(then)} the day before"
        text = f"{name}: SLA met for {percent(now)} of the time{told}"
        yield Change(Kind.SLA_MISSED, group.cluster, text, 1 - (now or 0))
    if was.missed_sla and day.missed_sla is False:
        text = f"{name}: SLA met all day, {percent(then)} the day before"
        yield Change(Kind.SLA_MET, group.cluster, text)
    if day.err_minutes and not was.err_minutes:
        told = ", never the day before" if was.err_minutes == 0 else ""
        text = f"{name}: in ERR for {span(day.err_minutes * 60)}{told}"
        yield Change(Kind.ERR, group.cluster, text, day.err_minutes)


def _unusual(today: Findings) -> Iterator[Change]:
    """One for a group's measure, by its most unusual hour."""
    alike: dict[tuple[str, str, str], list[tuple[Unusual, Hour]]] = defaultdict(list)
    for hour, found in today.unusual.items():
        alike[hour.cluster, hour.group, hour.measure].append((found, hour))
    for (cluster, group, measure), hours in alike.items():
        worst, hour = max(hours, key=lambda each: abs(each[0].deviation))
        what, told = _MEASURES[measure]
        more = f", {counted(len(hours) - 1, 'more hour')} unusual" if len(hours) > 1 else ""
        text = (
            f"{shown(group, LONGEST_NAME)}: {what} {told(worst.value)} at {hour.hour:02}:00, "
            f"usually {told(worst.usual)}{more}"
        )
        yield Change(Kind.UNUSUAL, cluster, text, abs(worst.deviation))


def _rate(records: float) -> str:
    return f"{records:,.1f}/s"


_MEASURES: dict[str, tuple[str, Callable[[float], str]]] = {
    "time_lag_seconds": ("time lag", span),
    "lag": ("lag", "{:,.0f} records".format),
    "produce_rate": ("records produced", _rate),
}


def _come_and_gone(today: Findings, before: Findings) -> Iterator[Change]:
    """Of clusters that both days have groups of; elsewhere all would be new, or gone."""
    now, then = _there(today), _there(before)
    for cluster in sorted(now.keys() & then.keys()):
        new, gone = now[cluster] - then[cluster], then[cluster] - now[cluster]
        if new:
            yield Change(Kind.NEW, cluster, _listed("new groups", new), count=len(new))
        if gone:
            yield Change(Kind.GONE, cluster, _listed("groups gone", gone), count=len(gone))


def _there(findings: Findings) -> dict[str, set[str]]:
    """Names by cluster of the groups that were not deleted that day."""
    names: dict[str, set[str]] = defaultdict(set)
    for group, day in findings.groups.items():
        names[group.cluster] |= set() if day.gone else {group.group}
    return names


def _listed(what: str, names: Iterable[str]) -> str:
    some: Sequence[str] = sorted(names)
    told = ", ".join(shown(name, LONGEST_NAME) for name in some[:_SOME])
    more = f" and {len(some) - _SOME:,} more" if len(some) > _SOME else ""
    return f"{what}: {told}{more}"
