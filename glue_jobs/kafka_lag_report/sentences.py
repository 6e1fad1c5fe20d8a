# SPDX-License-Identifier: Apache-2.0
"""Sentences about findings, for page and message alike, with strangers' names kept apart.

A sentence is a tuple of plain words and `Name`s: the page marks names, the message cuts them.
Each states only what the finding holds. `known` words what may be unknown.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from kafka_lag.contract import BEYOND_END, FALLING_BEHIND, NO_MEMBER, RECORDS_LOST, SLOW
from kafka_lag.contract.words import WORDS
from kafka_lag.formatting import (
    cut_middle,
    escape_name,
    format_duration,
    format_list,
    format_quantity,
    format_rate,
    format_share,
)
from kafka_lag_report.findings import (
    BROKER,
    CONSUMER,
    PRODUCTION,
    STALLED,
    STOPPED,
    UNEXPLAINED,
    Coverage,
    TopicRisk,
    TopicSkew,
    UnusualHour,
)

DASH = "\u2013"
# More than any table or line has room for; the middle of a longer name is cut.
LONGEST_NAME = 60
# Beyond this the page cuts a name for good.
WHOLE_NAME = 500
TIME_LAG = "time_lag_seconds"
# Columns of `anomalies.measure` for people; there may be others in a later version.
MEASURES = {TIME_LAG: "time lag", "produce_rate": "produce rate", "lag": "lag"}
# `status_reason` of a group that is not OK.
REASONS = {
    name: WORDS[name] for name in (RECORDS_LOST, BEYOND_END, FALLING_BEHIND, SLOW, NO_MEMBER)
}
_SOME_PARTITIONS = 8


@dataclass(frozen=True, slots=True)
class Name:
    """A name that some stranger chose."""

    text: str


Sentence = tuple[str | Name, ...]


def known(words: Callable[[float], str], value: float | None) -> str:
    """The value in these words; a dash where it is unknown."""
    return DASH if value is None or not math.isfinite(value) else words(value)


def name_of(text: str | None, longest: int = LONGEST_NAME) -> str:
    """A name on one line: what does not print is spelled out, the middle of a long one cut."""
    if text is None:
        return DASH
    return cut_middle(escape_name(cut_middle(text, longest)), longest)


def plain(sentence: Iterable[str | Name], longest: int = LONGEST_NAME) -> str:
    """The sentence as text."""
    return "".join(p if isinstance(p, str) else name_of(p.text, longest) for p in sentence)


def time_left(seconds: float) -> str:
    """Rounded down, so that it is never said too long."""
    return format_duration(seconds, math.floor)


def cause_of(skew: TopicSkew) -> Sentence:
    """Why a topic's lag is skewed, without a full stop."""
    on = _partitions(skew.cause_partitions)
    who = _member(skew)
    if skew.cause == BROKER and skew.cause_leader is not None:
        return (f"broker {skew.cause_leader} leads {on}",)
    if skew.cause == CONSUMER and who:
        return (*who, f" owns {on}")
    if skew.cause == STALLED and who:
        return (*who, f" owns {on} and did not move")
    if skew.cause == STALLED:
        return (f"the owner of {on} did not move",)
    if skew.cause == STOPPED:
        return (f"nobody owned {on}",)
    if skew.cause == PRODUCTION:
        to = "it" if len(skew.cause_partitions) == 1 else "them"
        are = "is" if len(skew.cause_partitions) == 1 else "are"
        return (f"{on} {are} behind by more records as more are produced to {to}",)
    if skew.cause == UNEXPLAINED and skew.cause_leader is not None:
        led = f"{on} are all led by broker {skew.cause_leader}"
        return (f"{led}, under which no other group lags: no cause is known",)
    if skew.cause in (None, UNEXPLAINED):
        return (f"no cause is known for {on}",)
    return (f"{name_of(skew.cause, 40)} ({on})",)


def loss_of(risk: TopicRisk) -> Sentence:
    """What a group lost of a topic."""
    lost = "records" if not risk.records_lost else at_least(risk.records_lost)
    where = format_quantity(risk.partitions_lost, "partition")
    return (
        Name(risk.group),
        f" lost {lost} of ",
        Name(risk.topic),
        f" on {where}: deleted before they were committed",
    )


def at_least(lost: int) -> str:
    """Records lost of a day: what went in the run in which the group came back nobody saw."""
    return f"at least {format_quantity(lost, 'record')}"


def retention_of(risk: TopicRisk) -> str:
    """What kept too little, where that is known; retention by age alone.

    Nothing of a retention that was enough: those records were deleted by request or for size.
    """
    if risk.unlimited:
        return " No retention by age is set."
    if risk.retention_needed is None or risk.unlimited is None:
        return ""
    if risk.retention is not None and risk.retention_needed <= risk.retention:
        return ""
    needed = f"{format_duration(risk.retention_needed, math.ceil)} would have been enough."
    kept = "" if risk.retention is None else f" Retention was {format_duration(risk.retention)};"
    return f"{kept} {needed}" if kept else f" Retention of {needed}"


def runs_seen(coverage: Coverage) -> str:
    """How much of the day was seen: the runs, and the longest gap where it is known."""
    if coverage.runs == 0:
        return f"no runs of {coverage.dataset} were seen"
    said = []
    if coverage.runs is not None and coverage.expected_runs:
        said.append(f"{coverage.runs:,} of {coverage.expected_runs:,} runs were seen")
    if coverage.longest_gap is not None:
        said.append(f"the longest gap lasted {format_duration(coverage.longest_gap)}")
    return f"{'; '.join(said)} ({coverage.dataset})"


def unusual_of(worst: UnusualHour, other_hours: int) -> Sentence:
    """The furthest of a group's unusual hours of one measure."""
    what = MEASURES.get(worst.measure) or name_of(worst.measure, 40)
    words = measure_words(worst.measure)
    more = f", and in {format_quantity(other_hours, 'other hour')}" if other_hours else ""
    value, usual = known(words, worst.value), known(words, worst.usual)
    at = f"{worst.hour:02}:00"
    return (Name(worst.group), f": {what} {value} from {at} (usually {usual}){more}")


def measure_words(measure: str) -> Callable[[float], str]:
    """How values of `anomalies.measure` are worded."""
    if measure == TIME_LAG:
        return format_duration
    return format_rate if measure.endswith("_rate") else "{:,.0f}".format


def reason_of(reason: str) -> str:
    """A snapshot's `status_reason` in words."""
    return REASONS.get(reason) or name_of(reason, 40)


def share(part: float | None) -> str:
    """A share of 1 in per cent."""
    return known(format_share, part)


def minutes(count: float | None, space: str = " ") -> str:
    """A duration given in minutes."""
    return known(partial(format_duration, space=space), None if count is None else 60 * count)


def _member(skew: TopicSkew) -> Sentence:
    who = skew.cause_client or skew.cause_member
    if not who:
        return ()
    host = skew.cause_host
    return ("consumer ", Name(who), *((" on ", Name(host)) if host else ()))


def _partitions(numbers: tuple[int, ...]) -> str:
    if not numbers:
        return "its partitions"
    listed = format_list([str(number) for number in numbers], _SOME_PARTITIONS)
    return f"partition{'s' if len(numbers) > 1 else ''} {listed}"
