# SPDX-License-Identifier: Apache-2.0
"""Brokers that hold too much of the lag, and what of the day nobody saw."""

from collections.abc import Iterator, Mapping

from kafka_lag_report.summary.changes.change import Change, Kind
from kafka_lag_report.summary.findings import Broker, Coverage, Findings, Heat
from kafka_lag_report.summary.wording import counted, percent, shown, span

LONGEST_NAME = 60
# Fewer intervals without a run than this happen at any deploy.
_GAP_INTERVALS = 3


def changes(today: Findings, before: Findings) -> Iterator[Change]:
    """Of brokers against the day before; of coverage as it is, since gaps hide everything else."""
    for broker, heat in today.brokers.items():
        yield from _heat(broker, heat, before.brokers.get(broker))
    for cluster in sorted(before.clusters - today.clusters):
        yield Change(Kind.UNSEEN, cluster, "no snapshots of this day")
    for cluster, datasets in today.coverage.items():
        yield from _coverage(cluster, datasets)


def _heat(broker: Broker, heat: Heat, was: Heat | None) -> Iterator[Change]:
    rack = "" if broker.rack is None else f" in {shown(broker.rack, LONGEST_NAME)}"
    name = "no leader" if broker.leader is None else f"broker {broker.leader}{rack}"
    if heat.hot and not (was and was.hot):
        lag, partitions = percent(heat.lag_share), percent(heat.partitions_share)
        text = f"{name}: {lag} of the lag on {partitions} of the partitions"
        yield Change(Kind.HOT, broker.cluster, text, heat.lag_share or 0)
    if was and was.hot and heat.hot is False:
        yield Change(Kind.COOL, broker.cluster, f"{name}: its share of the lag is usual again")


def _coverage(cluster: str, datasets: Mapping[str, Coverage]) -> Iterator[Change]:
    told = [f"no runs of {name}" for name, each in datasets.items() if not each.runs]
    skipped = sum(each.skipped for each in datasets.values())
    if skipped:
        told.append(f"{counted(skipped, 'object')} left out as unreadable")
    gap = max((_gap(each) for each in datasets.values()), default=0)
    if gap:
        told.append(f"no run for {span(gap)}")
    if told:
        yield Change(Kind.COVERAGE, cluster, f"coverage: {'; '.join(told)}", gap)


def _gap(coverage: Coverage) -> float:
    """The longest gap in seconds where it is worth telling, else 0."""
    longest, interval = coverage.longest_gap_seconds or 0, coverage.interval_seconds
    return longest if interval and longest > _GAP_INTERVALS * interval else 0
