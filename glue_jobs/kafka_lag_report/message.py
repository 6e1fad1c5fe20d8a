# SPDX-License-Identifier: Apache-2.0
"""Words the day's message: at most 22 lines with what changed since the day before, worst first."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType
from urllib.parse import quote

from kafka_lag.wording.formatting import cut_end, format_quantity
from kafka_lag_report.changes import Change, count_old, find_changes
from kafka_lag_report.findings import Findings
from kafka_lag_report.sentences import LONGEST_NAME, word_name
from kafka_lag_report.storage import s3_place

# Enough for 18 incidents, the head and the link.
LINES = 22
# SNS accepts fewer than 100 ASCII characters.
SUBJECT = 99
LONGEST_CAUSE = 300
# If more clusters than this have changes, each gets one line.
_FEW = 5
_CONSOLES = {"cn-": "amazonaws.cn", "us-gov-": "amazonaws-us-gov.com"}
_CONSOLE = "aws.amazon.com"


@dataclass(frozen=True, slots=True)
class Message:
    """A message.

    `subject` is printable ASCII, `body` is plain text whose only control character is newline.
    """

    subject: str
    body: str


def compose_message(
    day: date,
    today: Mapping[str, Findings],
    previous: Mapping[str, Findings],
    *,
    links: Mapping[str, str],
    failed: Mapping[str, str] = MappingProxyType({}),
    first: bool = True,
    always: bool = False,
) -> Message | None:
    """Returns what changed by cluster, worst first; None if nothing did, unless `always` is set.

    `links` has the address of each cluster's page. `failed` says by cluster why it has no report.
    `previous` is empty if the day before has no reports; `first` means that no earlier day has one.
    """
    changes = find_changes(today, previous)
    if not (changes or failed or always):
        return None
    names = sorted(today.keys() | {change.cluster for change in changes})
    known = _count_by_kind(changes) or ("nothing new" if today else "")
    missing = f"{format_quantity(len(failed), 'cluster')} without a report" if failed else ""
    counted = ", ".join(filter(None, (missing, known))) or "nothing is known"
    about = sorted({*names, *failed})
    of = f" of {_cut_name(about[0])}" if len(about) == 1 else ""
    against = f" against {day - timedelta(days=1)}" if previous else ""
    head = [
        f"Kafka lag{of} on {day}{against}: {counted}.",
        *_list_caveats(today, previous, first=first),
        *_list_failures(failed),
        *_count_unchanged(today, previous),
    ]
    changed = list(dict.fromkeys(change.cluster for change in changes))
    calm = [name for name in names if name not in changed]
    room = LINES - len(head)
    if len(changed) > _FEW:
        body = _write_a_line_each(changes, changed, calm, links, room)
    else:
        calm = calm if changed else []
        body = _write_in_full(changes, changed or names, calm, links, room, several=len(about) > 1)
    subject = f"Kafka lag{of} {day}: {counted}".encode("ascii", "replace").decode()
    return Message(subject=cut_end(subject, SUBJECT), body="\n".join([*head, *body]))


def make_link(address: str, region: str | None) -> str:
    """Returns the address of an S3 object in the AWS console.

    Returns the address itself if it is not on S3, or without a region.
    """
    place = s3_place(address)
    if place is None or region is None:
        return address
    bucket, key = place
    domain = next((d for start, d in _CONSOLES.items() if region.startswith(start)), _CONSOLE)
    # The name of a folder may have percent signs; they are escaped for the console.
    query = f"region={region}&prefix={quote(key)}"
    return f"https://{region}.console.{domain}/s3/object/{bucket}?{query}"


def _list_caveats(
    today: Mapping[str, Findings], previous: Mapping[str, Findings], *, first: bool
) -> list[str]:
    """Returns the lines that a reader must know to understand the rest."""
    said = []
    if any(findings.in_progress for findings in today.values()):
        said.append("The day is not over: this is what was seen so far.")
    if today and not previous:
        kind = "First report: there is none" if first else "There is no report"
        said.append(f"{kind} of the day before to compare with.")
    return said


def _count_unchanged(today: Mapping[str, Findings], previous: Mapping[str, Findings]) -> list[str]:
    old = count_old(today, previous)
    if not old:
        return []
    what = format_quantity(old, "incident")
    return [f"{what} of the day before {'is' if old == 1 else 'are'} unchanged; see the page."]


def _list_failures(failed: Mapping[str, str]) -> list[str]:
    """Returns a line for each cluster without a report, and one line for all beyond a few."""
    lines = [
        f"no report of {_cut_name(cluster)}: {word_name(why, LONGEST_CAUSE)}"
        for cluster, why in failed.items()
    ]
    more = len(lines) - _FEW
    return lines if more <= 0 else [*lines[:_FEW], f"no report of {more} more clusters"]


def _write_in_full(
    changes: Sequence[Change],
    named: Sequence[str],
    calm: Sequence[str],
    links: Mapping[str, str],
    room: int,
    *,
    several: bool,
) -> list[str]:
    """Returns a line for each change, with its cluster if there are `several`, then the links."""
    few = named[:_FEW]
    end = [f"{_cut_name(name)}: {links[name]}" for name in few if name in links]
    end += _count_rest(calm if calm else named[_FEW:])
    lines = [
        f"- {_cut_name(change.cluster)}: {change.text}" if several else f"- {change.text}"
        for change in changes
    ]
    each = [[change] for change in changes]
    return [*_fit(lines, each, room - len(end), "lines, on the page"), *end]


def _write_a_line_each(
    changes: Sequence[Change],
    changed: Sequence[str],
    calm: Sequence[str],
    links: Mapping[str, str],
    room: int,
) -> list[str]:
    """Returns a line for each cluster: its changes counted by kind, the worst one, and its link."""
    end = _count_rest(calm)
    lines, of_each = [], []
    for name in changed:
        own = [change for change in changes if change.cluster == name]
        of_each.append(own)
        page = f" {links[name]}" if name in links else ""
        lines.append(f"- {_cut_name(name)}: {_count_by_kind(own)}. {own[0].text}{page}")
    return [*_fit(lines, of_each, room - len(end), "clusters with changes"), *end]


def _fit(
    lines: Sequence[str], changes: Sequence[Sequence[Change]], room: int, what: str
) -> list[str]:
    """Returns as many lines as there is room for.

    The last one counts the changes of the others by kind.
    """
    if len(lines) <= room:
        return list(lines)
    rest = [change for of_line in changes[room - 1 :] for change in of_line]
    pressing = [change for change in rest if change.pressing]
    said = f"and {len(lines) - room + 1:,} more {what}: {_count_by_kind(rest)}"
    if pressing:
        said += f"; broken now or with losses: {_count_by_kind(pressing)}"
    return [*lines[: room - 1], said]


def _count_rest(clusters: Sequence[str]) -> list[str]:
    more = format_quantity(len(clusters), "more cluster")
    return [f"and {more} without change"] if clusters else []


def _count_by_kind(changes: Iterable[Change]) -> str:
    """Returns the number of changes by kind, in the order in which the kinds come."""
    counts: Counter[str] = Counter()
    for change in changes:
        counts[change.what] += change.count
    return ", ".join(f"{count:,} {what}" for what, count in counts.items())


def _cut_name(text: str) -> str:
    return word_name(text, LONGEST_NAME)
