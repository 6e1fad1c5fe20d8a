# SPDX-License-Identifier: Apache-2.0
"""Page and message read as a person reads them, held against what was planted.

A line is good if it names one planted incident, says since when and until when or that it is still
so, why, and nothing that is false. Every other line is a fault, as is an incident without a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from html import unescape
from pathlib import Path
from urllib.parse import quote

from dev.report_judge.planted import Cluster, Planted

_ATTENTION = re.compile(r'<section id="attention".*?</section>', re.DOTALL)
_LINE = re.compile(r"<li class=.*?</li>", re.DOTALL)
_CLOCK = re.compile(r"\b(\d{1,2}):(\d\d)\b(?:\s+(on\s+\d+\s+\w+|the day before))?")
_LOST = re.compile(r"lost at least ([\d,]+)|at least ([\d,]+) records? (?:were|was) lost")
_DURATION = r"((?:[\d,]+ (?:d|h|min|s) ?)+)"
_OLDEST = re.compile(rf"the oldest (at least )?{_DURATION}\bold")
_ENOUGH = re.compile(rf"\b{_DURATION}would have been enough")
_UNITS = {"d": 24.0, "h": 1.0, "min": 1 / 60, "s": 1 / 3600}
# A run comes a minute after what it sees, and a group usually is some seconds behind.
_AGE_WITHIN = 3 / 60
# Logs are deleted by whole segments.
_ENOUGH_WITHIN = 25 / 60
_CUT = re.compile(r"^and ([\d,]+) more lines, on the page", re.MULTILINE)
_STILL = re.compile(r"\bstill\b|since then|to the end of the day|to midnight")
_ALL_DAY = re.compile(r"\ball day\b")
_BEFORE = re.compile(r"\ball day\b|before midnight")
_DAY = 24.0


@dataclass(slots=True)
class Verdict:
    """What was read of one cluster; `lines` are the page's."""

    cluster: str
    planted: int
    found: int = 0
    lines: int = 0
    faults: list[str] = field(default_factory=list)


def judge(root: Path, cluster: Cluster, day: date, message: str) -> Verdict:
    """Judge the cluster's page, and its message."""
    verdict = Verdict(cluster.name, len(cluster.incidents))
    html = page_of(root, cluster.name, day)
    lines = page_lines(html)
    verdict.lines = len(lines)
    on_page = match_lines(cluster.incidents, lines, day, "page", verdict.faults)
    told = message_lines(message)
    in_message = match_lines(
        cluster.incidents, told, day, "message", verdict.faults, cut=number_cut(message)
    )
    verdict.found = len(on_page & in_message)
    text = text_of(_ATTENTION.findall(html)[0])
    if not cluster.incidents and not re.search(r"Nothing (does|needs)", text):
        verdict.faults.append(f"page: a calm day is not called calm: {text}")
    if cluster.incidents and re.search(r"Nothing (does|needs)", text):
        verdict.faults.append("page: a day with incidents is called calm")
    return verdict


def page_of(root: Path, cluster: str, day: date) -> str:
    """The page's HTML."""
    folder = f"cluster={quote(cluster, safe='')}"
    return (root / f"reports/page/{folder}/dt={day}/report.html").read_text("utf-8")


def page_lines(html: str) -> list[str]:
    """The lines of what needs attention, as text."""
    return [text_of(line) for line in _LINE.findall(_ATTENTION.findall(html)[0])]


def message_lines(message: str) -> list[str]:
    """What the message of one cluster says of its day, line by line."""
    return [line[2:].strip() for line in message.splitlines() if line.startswith("- ")]


def text_of(html: str) -> str:
    """What is read of it, on one line."""
    shown = re.sub(r"<[^>]+>", "", re.sub(r"</?(a|p|li|h\d)\b[^>]*>", " ", html))
    return re.sub(r"\s+", " ", unescape(shown)).replace("\u00a0", " ").strip()


def number_cut(message: str) -> int:
    """How many lines the message says are on the page alone."""
    found = _CUT.search(message)
    return int(found[1].replace(",", "")) if found else 0


def match_lines(
    planted: Sequence[Planted],
    lines: Sequence[str],
    day: date,
    where: str,
    faults: list[str],
    *,
    cut: int = 0,
) -> set[int]:
    """The places of incidents that a line tells rightly; what is wrong is added to the faults.

    So many as were `cut` are taken for told, of those that are over and lost nothing.
    """
    found: dict[int, str] = {}
    for line in lines:
        places = [n for n, one in enumerate(planted) if _is_about(line, one)]
        if not places:
            faults.append(f"{where}: about nothing that happened: {line}")
            continue
        errors = {n: list(_errors(line, planted[n], day)) for n in places}
        best = min(places, key=lambda n: (n in found, len(errors[n])))
        if best in found:
            faults.append(f"{where}: said twice: {line}")
        elif errors[best]:
            faults.append(f"{where}: {'; '.join(errors[best])}: {line}")
        found.setdefault(best, line)
    cuttable = [n for n, one in enumerate(planted) if one.until is not None and one.lost is None]
    passed = {*[n for n in cuttable if n not in found][:cut]}
    for n, one in enumerate(planted):
        if n not in found and n not in passed:
            faults.append(f"{where}: missing: {one.who or 'runs'} from {one.since} to {one.until}")
    right = {n for n, line in found.items() if not list(_errors(line, planted[n], day))}
    return right | passed


def _is_about(line: str, one: Planted) -> bool:
    if not one.who:
        return re.search(r"\bruns?\b", line) is not None
    name = rf"(?<![\w-]){re.escape(one.who)}(?![\w-])"
    return re.search(name, line, re.IGNORECASE) is not None


def _errors(line: str, one: Planted, day: date) -> Iterator[str]:
    if re.search(one.never, line, re.IGNORECASE):
        yield f"says {one.never}"
    line = _without_names(line, one)
    if not re.search(one.says, line, re.IGNORECASE):
        yield f"does not say {one.says}"
    times = list(_times(line, day))
    if one.moment:
        allowed = (one.since or 0.0) - one.begin_within / 60, (one.until or 24) + 1 / 60
        if any(not allowed[0] <= time <= allowed[1] for time in times):
            yield f"times {times} outside {allowed}"
    else:
        yield from _period_errors(line, one, times)
    yield from _loss_errors(line, one)
    yield from _age_errors(line, one)


def _without_names(line: str, one: Planted) -> str:
    """The line less names made of the planted one's, unless they have to be said.

    A day's name says what happens in it, and so would say for the line what that does not.
    """
    if not one.who:
        return line
    name = rf"(?<![\w-]){re.escape(one.who.removesuffix('-topic'))}[\w-]*"
    return re.sub(name, lambda found: found[0] if found[0] in one.says else "NAME", line)


def _period_errors(line: str, one: Planted, times: Sequence[float]) -> Iterator[str]:
    still = _STILL.search(line) is not None or _ALL_DAY.search(line) is not None
    if still != (one.until is None):
        yield "is not said to be still so" if one.until is None else "is said to be still so"
    if one.since is None:
        if not _BEFORE.search(line):
            yield "does not say that it began before the day"
        if min(times, default=1.0) <= 0:
            yield "says when it began, which nobody knows"
    elif not times:
        yield "has no time"
    elif abs(times[0] - one.since) * 60 > one.begin_within + 1e-9:
        yield f"begins at {times[0]:.2f}, not {one.since}"
    known = 1 if one.since is None and times and times[0] > 0 else 2
    if one.until is not None and len(times) >= known:
        late = (times[known - 1] - one.until) * 60
        if not -1.0 - 1e-9 <= late <= one.end_within + 1e-9:
            yield f"ends at {times[1]:.2f}, not {one.until}"
    elif one.until is not None and times:
        yield "has no end"
    last = (_DAY if one.until is None else one.until) + one.end_within / 60
    if any(time > last + 1e-9 for time in times):
        yield f"names a time after its end: {times}"


def _times(line: str, day: date) -> Iterator[float]:
    """Hours of the day, less than 0 on days before."""
    for hour, minute, other in _CLOCK.findall(line):
        time = int(hour) + int(minute) / 60
        yield time - _DAY * _days_before(other, day)


def _days_before(words: str, day: date) -> int:
    if not words:
        return 0
    if words == "the day before":
        return 1
    return next(
        (
            back
            for back in range(1, 60)
            for then in [day - timedelta(days=back)]
            if words.split() == ["on", str(then.day), f"{then:%B}"]
        ),
        0,
    )


def _loss_errors(line: str, one: Planted) -> Iterator[str]:
    said = [int((a or b).replace(",", "")) for a, b in _LOST.findall(line)]
    if one.lost is None:
        if said:
            yield "nothing was lost"
    elif not said:
        yield "does not say how much was lost"
    elif not one.lost[0] <= said[0] <= one.lost[1]:
        yield f"{said[0]:,} lost, not {one.lost[0]:,.0f} to {one.lost[1]:,.0f}"


def _age_errors(line: str, one: Planted) -> Iterator[str]:
    """Where nothing was read for a time that is known, it is also how old the oldest record was."""
    if one.unread_hours is None:
        return
    oldest, enough = _OLDEST.search(line), _ENOUGH.search(line)
    if oldest and one.lost is None:
        beyond = _hours(oldest[2]) - one.unread_hours
        if beyond > _AGE_WITHIN or (beyond < -_AGE_WITHIN and not oldest[1]):
            yield f"the oldest was {one.unread_hours:.2f} h old"
    if enough and not -_AGE_WITHIN <= _hours(enough[1]) - one.unread_hours <= _ENOUGH_WITHIN:
        yield f"{one.unread_hours:.2f} h would have been enough"


def _hours(words: str) -> float:
    parts = re.findall(r"([\d,]+) (d|h|min|s)", words)
    return sum(int(count.replace(",", "")) * _UNITS[unit] for count, unit in parts)
