# SPDX-License-Identifier: Apache-2.0
"""Findings about a cluster that can be read: brokers, clocks, groups, transactions, cost. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kafka_lag import contract
from kafka_lag.brokers import throttling
from kafka_lag.brokers.access import Access
from kafka_lag.brokers.diagnosis.ports import ServerFindings
from kafka_lag.brokers.diagnosis.unreachable import find_fault
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import LagReport
from kafka_lag.sinks.budget import Plan
from kafka_lag.sinks.config import Levels
from kafka_lag.wording.formatting import (
    format_count,
    format_duration,
    format_list,
    format_quantity,
)
from kafka_lag.wording.words import lacks_shared_lag
from kafka_lag_cli.doctor.findings import Finding, Severity
from kafka_lag_cli.doctor.inspection import GROUP_COMMITS, Clocks, Inspection
from kafka_lag_cli.doctor.rights_repair import RightsRepair
from kafka_lag_cli.terminal.text import printable
from kafka_lag_config.cost.cost import REFERENCE_REGION, PricesByRegion

BROKERS, QUOTA, VERSION, CLOCKS, KINDS, TRANSACTIONS, READING, METRICS = (
    "brokers",
    "client quota",
    "version",
    "clocks",
    "kinds of groups",
    "transactions",
    "reading",
    "metrics",
)
RETENTION = "retention"
COMMITS = "commits"
AFTER_LOGIN: Final = (BROKERS, QUOTA, VERSION, CLOCKS, KINDS, TRANSACTIONS, READING, METRICS)
_MOST_NAMES = 6
# Clocks that are set by NTP differ by less.
_TOLERATED_MS = 1_000
# Before it there is no request for the newest time, and time lag has not been tried.
_LEAST_VERSION = (3, 0)
_METRIC_PRICE = "custom_metric"


def check_brokers(
    access: Access, inspection: Inspection, found: Iterable[ServerFindings]
) -> Iterable[Finding]:
    """Check that each broker answers at its advertised address; `found` is about the others."""
    down = inspection.not_responding
    if inspection.given_up:
        names = format_list([*map(printable, inspection.given_up)], _MOST_NAMES)
        yield Finding(BROKERS, "unknown", f"not looked at to the end, because of {QUOTA}: {names}")
    elif not inspection.brokers:
        yield Finding(BROKERS, "unknown", "no broker named the others")
    elif not down:
        yield Finding(
            BROKERS, "ok", f"all {len(inspection.brokers)} answer at the addresses they advertise"
        )
    seen = {each.server: each for each in found}
    for address, cause in down.items():
        fault = find_fault(access, seen[address]) if address in seen else None
        yield Finding(
            BROKERS,
            "fault",
            f"{printable(address)} does not answer: "
            + (fault.finding if fault else printable(cause)),
            "What it leads and coordinates cannot be read. The address is the one that it "
            "advertises (advertised.listeners). " + (fault.repair if fault else ""),
        )


def check_quota(inspection: Inspection, report: LagReport | None, repair: RightsRepair) -> Finding:
    """Check whether a client quota holds back this login: a fault if that costs rows."""
    delays = [inspection.throttled, report.throttled if report else None]
    throttled = max(filter(None, delays), key=lambda each: each.seconds, default=None)
    lost = [each for each in report.problems if each.reason == contract.THROTTLED] if report else []
    if throttled is None and not lost:
        return Finding(QUOTA, "ok", "no request of this login was held back")
    delay = f" for up to {format_duration(throttled.seconds)}" if throttled else ""
    unread = f"; {format_quantity(len(lost), 'thing')} not read in time" if lost else ""
    user = throttled.user if throttled else None
    return Finding(
        QUOTA,
        "fault" if lost or inspection.given_up else "warning",
        f"brokers hold back requests of this login{delay} ({throttling.QUOTA}){unread}",
        f"{throttling.describe_owner(user)} Runs take longer by it, and what they cannot read in "
        "their time is unread (throttled). Give this login a quota of its own, which wins over the "
        "others.",
        repair.allow_requests(),
    )


def check_version(version: tuple[int, ...] | None) -> Finding:
    """Check that the brokers have a version that is known to work."""
    if version is None:
        return Finding(VERSION, "unknown", "the brokers do not say what they speak")
    said = f"Kafka {'.'.join(map(str, version))} or newer, by the requests the brokers take"
    if version < _LEAST_VERSION:
        least = ".".join(map(str, _LEAST_VERSION))
        why = f"Brokers before {least} have not been tried, and time lag is less exact there."
        return Finding(VERSION, "warning", said, why)
    return Finding(VERSION, "ok", said)


def check_clocks(clocks: Clocks, *, may_describe: bool | None = True) -> Iterable[Finding]:
    """Records of the future: a clock is wrong, or a producer's idea of time.

    `may_describe`: whether all topics may be described, so that those listed are all there are;
    null is not known.
    """
    ahead = [each for each in clocks.ahead if each.ms > _TOLERATED_MS]
    for whose, why in _CLOCKS.items():
        topics = {each.topic: each.ms for each in ahead if each.by_brokers is whose}
        if topics:
            most = format_duration(max(topics.values()) / 1000)
            names = format_list([*map(printable, topics)], _MOST_NAMES)
            count = format_quantity(len(topics), "topic has", "topics have")
            what = f"{count} records up to {most} ahead of this machine's clock: {names}"
            yield Finding(CLOCKS, "warning", what, why)
    read = clocks.partitions + clocks.empty
    if not clocks.wanted:
        if may_describe:
            yield Finding(CLOCKS, "info", "there is no topic whose records could be looked at")
        else:
            yield Finding(CLOCKS, "unknown", "no topic is shown to this login")
    elif not read:
        yield Finding(CLOCKS, "unknown", "no broker named the time of any record")
    elif not ahead or read < clocks.requested:
        some = f"{format_count(read)} of {format_quantity(clocks.wanted, 'partition')}"
        none = "no other record" if ahead else "no record"
        said = f"{none} is ahead of this machine's clock; the newest of {some} were looked at"
        if clocks.of_commits:
            said += f", {format_count(clocks.of_commits)} of them of {GROUP_COMMITS}"
        yield Finding(CLOCKS, _coverage(read, clocks), said)


def _coverage(read: int, clocks: Clocks) -> Severity:
    """Return the severity if so many partitions were looked at; our own limit is not a failure."""
    if read < clocks.requested:
        return "unknown"
    return "ok" if clocks.requested == clocks.wanted else "info"


_CLOCKS: Mapping[bool | None, str] = {
    True: "Brokers set these times (LogAppendTime, or commits of groups): set the clock of the "
    "brokers, or of this machine, by NTP. Time lag is too short by the difference.",
    False: "Producers set these times (CreateTime): set their clocks, or what they take for a "
    "record's time, or that of this machine. A time of the future is not believed, so the time lag "
    "of such records is unknown at first. They stay until retention removes them.",
    None: "Whether brokers or producers set these times takes DescribeConfigs on the topic.",
}


def check_kinds(
    groups: Mapping[str | None, tuple[str, ...]],
    report: LagReport | None = None,
    *,
    is_complete: bool = True,
) -> Iterable[Finding]:
    """List groups by kind, and those without lag; there may be more unless `is_complete`."""
    counts = [
        f"{format_count(len(names))} {printable(kind) if kind else 'of a kind not said'}"
        for kind, names in sorted(groups.items(), key=lambda item: item[0] or "")
    ]
    if not is_complete:
        listed = ", ".join(counts) or "no groups"
        yield Finding(KINDS, "unknown", f"{listed} listed: others may be hidden, or not listed yet")
    elif counts:
        yield Finding(KINDS, "ok", ", ".join(counts))
    else:
        yield Finding(KINDS, "info", "there are no groups")
    rows = report.snapshot.groups.to_dicts() if report and contract.SHARE in groups else []
    if names := [row["consumer_group"] for row in rows if lacks_shared_lag(row)]:
        listed = format_list([*map(printable, names)], _MOST_NAMES)
        yield Finding(
            KINDS,
            "info",
            f"no lag is known of {format_quantity(len(names), 'share group')}: {listed}",
            "Brokers say the lag of a share group from Kafka 4.2 on. Before, such a group is in "
            "the snapshots without lag and status.",
        )


def check_transactions(
    has_transactions: bool | None, report: LagReport | None, rules: Rules
) -> Iterable[Finding]:
    """Check whether producers write in transactions, whose markers look like a lag of 1."""
    if has_transactions is None:
        yield Finding(TRANSACTIONS, "unknown", "the brokers do not show whether there are any")
    elif not has_transactions:
        yield Finding(TRANSACTIONS, "ok", "no producer has ever written in transactions")
    elif report is None:
        yield Finding(TRANSACTIONS, "unknown", "the topics were not read, so none is known by lag")
    elif topics := _topics_one_behind(report, rules):
        yield _one_behind(topics)
    elif not _is_read(report):
        yield Finding(TRANSACTIONS, "unknown", "there are some; not every group's lag was read")
    else:
        yield Finding(
            TRANSACTIONS, "ok", "there are some; no group is one record behind on any topic"
        )


def _is_read(report: LagReport) -> bool:
    rows = report.snapshot.group_partitions
    return bool(len(rows)) and not rows.strings("unread_reason").known.any()


def _topics_one_behind(report: LagReport, rules: Rules) -> list[str]:
    """Topics on which nobody has a lag of more than one, and somebody one that is not allowed."""
    rows = report.snapshot.group_partitions
    lag, names = rows.numbers("lag"), rows.strings("topic")
    behind = names.only(lag == 1).pruned().categories
    more = set(names.only(lag > 1).pruned().categories)
    return sorted(
        str(name)
        for name in behind
        if name not in more and not (rules.allowed_lag.get(str(name)) or 0)
    )


def _one_behind(topics: Sequence[str]) -> Finding:
    return Finding(
        TRANSACTIONS,
        "info",
        "some producers write in transactions, and in this one reading groups were one record "
        f"behind on {format_list([*map(printable, topics)], _MOST_NAMES)}",
        "Brokers do not show to a monitor which topics are written in transactions. The marker "
        "that ends one counts as a record, so a group that has read everything rests at lag 1. One "
        "reading does not tell such a group from one that is about to read. A collector learns it "
        "from two rests; until then such a group may be STOP or STALL.",
    )


def check_reading(report: LagReport, inspection: Inspection) -> Finding:
    """Report what a run like the collector's could not read; denied names come last."""
    problems = sorted(report.problems, key=lambda each: each.reason == contract.DENIED)
    rows = len(report.snapshot.group_partitions)
    said = (
        f"{format_quantity(len(report.snapshot.groups), 'group')} with "
        f"{format_quantity(rows, 'partition')} read"
    )
    if not problems:
        return _left_out(said, rows, inspection) or Finding(READING, "ok" if rows else "info", said)
    some = [f"{each.scope} {printable(each.name)} ({each.reason})" for each in problems]
    return Finding(
        READING,
        "warning",
        f"{format_quantity(len(problems), 'thing')} not read: {format_list(some, _MOST_NAMES)}",
        f"First: {printable(problems[0].detail)}. Runs name each again, and ReadErrors counts it.",
    )


def _left_out(said: str, rows: int, inspection: Inspection) -> Finding | None:
    """Return the finding on a reading without errors if rights are missing or unknown; null if all
    are there.
    """
    rights = inspection.rights
    kinds = {"groups": rights.groups, "topics": rights.topics}
    missing = [kind for kind, is_allowed in kinds.items() if is_allowed is False]
    if not missing:
        whole = rights.topics and inspection.lists_all_groups
        why = "Whether this is all there is was not seen."
        return None if whole else Finding(READING, "unknown", said, why)
    why = (
        f"Describe on {format_list(missing, _MOST_NAMES)} is missing, and brokers leave out in "
        "silence what this login may not describe: this need not be all there is."
    )
    return Finding(READING, "info" if rows else "warning", said, why)


def check_commits(report: LagReport) -> Iterable[Finding]:
    """Report what a reading noted about the commits of groups."""
    for note in report.notes:
        why = "Brokers store what a client commits. The group itself is read as always."
        yield Finding(COMMITS, "info", printable(note), why)


def check_retention(report: LagReport, interval_ms: int) -> Iterable[Finding]:
    """Topics that somebody reads, and of which a record may come and go between two runs."""
    rows, topics = report.snapshot.group_partitions, report.snapshot.topic_partitions
    kept, policy = topics.numbers("retention_ms"), topics.strings("cleanup_policy")
    deletes = policy.is_in([each for each in policy.categories if "delete" in each])
    short = topics.strings("topic").only((kept >= 0) & (kept < interval_ms) & deletes)
    read = set(rows.strings("topic").pruned().categories)
    names = sorted(printable(str(name)) for name in short.pruned().categories if name in read)
    if names:
        yield Finding(
            RETENTION,
            "info",
            f"kept for less than the {format_duration(interval_ms / 1_000)} between two runs: "
            f"{format_list(names, _MOST_NAMES)}",
            "Records that a group has not read are deleted before anybody can be warned; losses "
            "are seen afterwards.",
        )


def check_metrics(
    plan: Plan, levels: Levels, region: str | None, prices: PricesByRegion
) -> Iterable[Finding]:
    """Report how many custom metrics CloudWatch would get each month, and their cost."""
    priced = region if region is not None and region in prices else REFERENCE_REGION
    price = prices[priced][_METRIC_PRICE]
    dollars = price.cost(plan.metrics)
    yield Finding(
        METRICS,
        "ok",
        f"{format_count(plan.metrics)} custom metrics, ${dollars:,.2f} a month at the prices of "
        f"{priced}, for metrics alone (kafka-lag cost has the rest)",
    )
    if plan.omitted:
        more = price.cost(plan.metrics + plan.omitted) - dollars
        yield Finding(
            METRICS,
            "warning",
            f"{format_count(plan.omitted)} metrics more do not fit into max_metrics "
            f"({format_count(levels.max_metrics)})",
            f"They would cost ${more:,.2f} more a month. Raise levels.max_metrics in the "
            "configuration, or narrow groups and topics. Snapshots have all of it anyway.",
        )
