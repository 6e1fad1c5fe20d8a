# SPDX-License-Identifier: Apache-2.0
"""The summary for a team's channel: at most 20 lines of what changed, worst first."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType

from kafka_lag_report.summary.changes import Change
from kafka_lag_report.summary.findings import Findings
from kafka_lag_report.summary.wording import counted, shown

LINES = 20
# SNS wants less than 100 letters of ASCII.
SUBJECT = 99
LONGEST_NAME, LONGEST_CAUSE = 60, 300
# Of more clusters than this each has a line only.
_FEW = 5


@dataclass(frozen=True, slots=True)
class Message:
    """`subject` is printable ASCII, `body` plain text without control characters but line ends."""

    subject: str
    body: str


def message(
    changes: Sequence[Change],
    *,
    day: date,
    today: Findings,
    before: Findings | None,
    links: Mapping[str, str],
    failed: Mapping[str, str] = MappingProxyType({}),
    always: bool = False,
) -> Message | None:
    """Word the changes, worst first as they come; null when there are none, unless `always`.

    `links` lead to each cluster's page; `failed` says by cluster why it has no report.
    """
    if not (changes or failed or always):
        return None
    names = sorted(today.clusters | {change.cluster for change in changes})
    told = _told(changes) or "nothing changed"
    if failed:
        told = f"{counted(len(failed), 'cluster')} without a report, {told}"
    of = f" of {shown(names[0], LONGEST_NAME)}" if len(names) == 1 else ""
    against = f" against {day - timedelta(days=1)}" if before else ""
    head = [f"Kafka lag{of} on {day}{against}: {told}.", *_remarks(today, before)]
    head += [*_failures(failed), _standing(today)]
    changed = list(dict.fromkeys(change.cluster for change in changes))
    calm = [name for name in names if name not in changed]
    room = LINES - len(head)
    if len(changed) > _FEW:
        body = _a_line_each(changes, changed, calm, links, room)
    else:
        body = _in_full(changes, changed or names, calm if changed else [], links, room)
    subject = f"Kafka lag{of} {day}: {told}"
    return Message(subject=_ascii(subject), body="\n".join([*head, *body]))


def _remarks(today: Findings, before: Findings | None) -> list[str]:
    """What a reader must know to take the rest right."""
    told = []
    if today.in_progress:
        told.append("The day is not over: this is what was seen so far.")
    if before is None:
        told.append("First report: there is none of the day before to compare with.")
    if cut := sorted(today.cut | (before.cut if before else frozenset())):
        told.append(f"Too many to tell of all, so only of the worst: {', '.join(cut)}.")
    return told


def _failures(failed: Mapping[str, str]) -> list[str]:
    """A line for each cluster without a report, and one for those beyond a few."""
    lines = [
        f"no report of {shown(cluster, LONGEST_NAME)}: {shown(why, LONGEST_CAUSE)}"
        for cluster, why in failed.items()
    ]
    more = len(lines) - _FEW
    return lines if more <= 0 else [*lines[:_FEW], f"no report of {more} more clusters"]


def _standing(today: Findings) -> str:
    """How the day was as a whole, whether it is new or not."""
    risks = today.risks.values()
    counts = {
        "with records lost": sum(risk.lost > 0 for risk in risks),
        "at risk": sum(risk.at_risk > 0 and not risk.lost for risk in risks),
        "SLA missed": sum(bool(group.missed_sla) for group in today.groups.values()),
        "skewed": sum(skew.skewed for skew in today.skews.values()),
        "hot": sum(bool(heat.hot) for heat in today.brokers.values()),
    }
    told = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    return f"All of that day, new or not: {told or 'nothing to attend to'}."


def _in_full(
    changes: Sequence[Change],
    named: Sequence[str],
    calm: Sequence[str],
    links: Mapping[str, str],
    room: int,
) -> list[str]:
    """Each change in a line, then the links."""
    few = named[:_FEW]
    end = [f"{shown(name, LONGEST_NAME)}: {links[name]}" for name in few if name in links]
    end += _and_more(calm if calm else named[_FEW:], "without change")
    lines = [f"- {_worded(change, len(named) + len(calm) > 1)}" for change in changes]
    return [*_fitting(lines, room - len(end), "changes"), *end]


def _a_line_each(
    changes: Sequence[Change],
    changed: Sequence[str],
    calm: Sequence[str],
    links: Mapping[str, str],
    room: int,
) -> list[str]:
    """Each cluster in a line: how much of what, the worst, and its link."""
    end = _and_more(calm, "without change")
    lines = []
    for name in changed:
        own = [change for change in changes if change.cluster == name]
        page = f" {links[name]}" if name in links else ""
        lines.append(f"- {shown(name, LONGEST_NAME)}: {_told(own)}; {own[0].text}{page}")
    return [*_fitting(lines, room - len(end), "clusters with changes"), *end]


def _fitting(lines: Sequence[str], room: int, what: str) -> list[str]:
    if len(lines) <= room:
        return list(lines)
    return [*lines[: room - 1], f"and {len(lines) - room + 1:,} more {what}"]


def _and_more(clusters: Sequence[str], what: str) -> list[str]:
    return [f"and {counted(len(clusters), 'more cluster')} {what}"] if clusters else []


def _worded(change: Change, several: bool) -> str:
    return f"{shown(change.cluster, LONGEST_NAME)}: {change.text}" if several else change.text


def _told(changes: Iterable[Change]) -> str:
    """How many of which kind, worst first."""
    counts: Counter[str] = Counter()
    for change in changes:
        counts[change.kind.value] += change.count
    return ", ".join(f"{count:,} {what}" for what, count in counts.items())


def _ascii(text: str) -> str:
    plain = text.encode("ascii", "replace").decode()
    return plain if len(plain) <= SUBJECT else f"{plain[: SUBJECT - 3]}..."
