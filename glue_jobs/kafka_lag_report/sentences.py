# SPDX-License-Identifier: Apache-2.0
"""Words findings as sentences, for page and message alike, with the names of strangers kept apart.

A sentence is a tuple of plain text and `Name`s: the page marks names, the message cuts them. A
sentence states only what the finding holds. `word_known` words a value that may be unknown.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial

from kafka_lag.contract import (
    LIMITED_BY_PARTITIONS,
    LIMITED_BY_SHARED,
    NEEDED_FOR_BACKLOG,
    NEEDED_FOR_HOT_PARTITION,
    NEEDED_FOR_RATE,
    NEEDED_FOR_RECENT_RATE,
    OPEN_TRANSACTION,
    SET_AHEAD,
    SKIPPED_BEYOND_END,
    SLOW,
)
from kafka_lag.wording.formatting import (
    cut_middle,
    escape_name,
    format_duration,
    format_list,
    format_quantity,
    format_rate,
    format_share,
)
from kafka_lag.wording.words import describe_skip, find_word
from kafka_lag_report.findings import (
    BROKER,
    CONSUMER,
    PRODUCTION,
    STALLED,
    STOPPED,
    UNEXPLAINED,
)
from kafka_lag_report.incident import Incident, Kind
from kafka_lag_report.schemas import Row
from kafka_lag_report.thresholds import STILL_SECONDS, WHOLE_DAY_MINUTES

DASH = "\u2013"
# The middle of a longer name is cut, because tables and lines have no room for it.
LONGEST_NAME = 60
# Beyond this the page cuts a name for good.
WHOLE_NAME = 500
TIME_LAG = "time_lag_seconds"
# Values of `anomalies.measure` in words; a later version may have others.
MEASURES = {TIME_LAG: "time lag", "produce_rate": "produce rate", "lag": "lag"}
# Values of `tasks_needed_reason` in words.
_NEEDED_FOR = {
    NEEDED_FOR_RATE: "what is written",
    NEEDED_FOR_RECENT_RATE: "the most written in 15 minutes",
    NEEDED_FOR_BACKLOG: "a backlog",
    NEEDED_FOR_HOT_PARTITION: "one hot partition: more tasks do not help",
    LIMITED_BY_PARTITIONS: "no more than partitions: more tasks do not help",
    LIMITED_BY_SHARED: "something that all tasks share is full: more do not help",
}
_SOME_PARTITIONS = 8
# Words for a group's worst status.
_AT_WORST = {
    Kind.STOPPED: "stopped",
    Kind.STALLED: "stalled",
    Kind.BEYOND_END: "had commits beyond the end of their log",
}


@dataclass(frozen=True, slots=True)
class Name:
    """A name that a stranger chose."""

    text: str


Sentence = tuple[str | Name, ...]


def word_known(words: Callable[[float], str], value: float | None) -> str:
    """Returns the value in these words; a dash if it is unknown."""
    return DASH if value is None or not math.isfinite(value) else words(value)


def word_name(text: str | None, longest: int = LONGEST_NAME) -> str:
    """Returns a name on one line, with its middle cut if it is long; a dash for null.

    Unprintable characters are escaped.
    """
    if text is None:
        return DASH
    return cut_middle(escape_name(cut_middle(text, longest)), longest)


def join_words(sentence: Iterable[str | Name], longest: int = LONGEST_NAME) -> str:
    """Returns the sentence as text."""
    return "".join(p if isinstance(p, str) else word_name(p.text, longest) for p in sentence)


def word_time_left(seconds: float) -> str:
    """Returns a duration, rounded down so that it is never too long."""
    return format_duration(seconds, math.floor)


def word_cause(skew: Row) -> Sentence:
    """Returns why a topic's lag is skewed, without a full stop."""
    cause, leader, partitions = (skew[f"cause{of}"] for of in ("", "_leader", "_partitions"))
    on = _list_partitions(partitions)
    who = _name_consumer(skew["cause_client_id"] or skew["cause_member"], skew["cause_client_host"])
    if cause == BROKER and leader is not None:
        return (f"broker {leader} leads {on}",)
    if cause == CONSUMER and who:
        return (*who, f" owns {on}")
    if cause == STALLED and who:
        return (*who, f" owns {on} and did not move")
    if cause == STALLED:
        return (f"the owner of {on} did not move",)
    if cause == STOPPED:
        return (f"nobody owned {on}",)
    if cause == PRODUCTION:
        are, to = ("is", "it") if len(partitions) == 1 else ("are", "them")
        return (f"{on} {are} behind by more records as more are produced to {to}",)
    if cause == UNEXPLAINED and leader is not None:
        led = f"{on} are all led by broker {leader}"
        return (f"{led}, under which no other group lags: no cause is known",)
    if cause in (None, UNEXPLAINED):
        return (f"no cause is known for {on}",)
    return (f"{word_name(cause, 40)} ({on})",)


def word_need(reason: str | None) -> str:
    """Returns why a group needs this many tasks; a dash if it is unknown."""
    if reason is None:
        return DASH
    return _NEEDED_FOR.get(reason) or word_name(reason, 40)


def word_lost_records(lost: int) -> str:
    """Returns a number of lost records, worded as a lower bound.

    It is a lower bound because no run sees the records that the group's last commit passed over.
    """
    return f"at least {format_quantity(lost, 'record')}"


def word_age(seconds: float, is_least: bool = False, space: str = " ") -> str:
    """Returns the age of a record; a lower bound is rounded down and begins with "at least"."""
    if is_least:
        return f"at least{space}{format_duration(seconds, math.floor, space=space)}"
    return format_duration(seconds, space=space)


def choose_words(measure: str, is_least: bool = False) -> Callable[[float], str]:
    """Returns the function that words values of this `anomalies.measure`."""
    if measure == TIME_LAG:
        return partial(word_age, is_least=is_least)
    return format_rate if measure.endswith("_rate") else "{:,.0f}".format


def word_incident(one: Incident, day: date, seen_until: datetime | None = None) -> Sentence:
    """Returns the sentences of an incident: what happened to whom, when, why, and at what cost.

    `seen_until` is the last run, if it is not at the end of the day that is reported.
    """
    period = Period(day, seen_until)
    return (*_word_event(one, period), *_word_why(one, period), *_word_costs(one, period))


@dataclass(frozen=True, slots=True)
class Period:
    """Words the times of a day.

    `seen_until` is the last run, if it is not at the end of the day.
    """

    day: date
    seen_until: datetime | None = None

    def of(self, one: Incident) -> str:
        """Returns from when to when the incident lasted, or that it still goes on."""
        if self.seen_until and one.since == self.seen_until:
            return f"{self.end}, the first to see it"
        if one.last_seen:
            begin = self._begin(one) or "since before midnight"
            return f"{begin.removesuffix(',')}, last seen so at {self.clock(one.last_seen)}"
        begins_before = one.since is None or one.since.date() < self.day
        if one.until is None:
            if one.since is None:
                return f"all day, and still {self.end}"
            return f"{self._begin(one).removesuffix(',')}, still {self.end}"
        if one.since is None:
            return f"since before midnight, until {self.clock(one.until)}"
        if begins_before:
            return f"{self._begin(one)} until {self.clock(one.until)}"
        return f"{self._begin(one)} to {self.clock(one.until)}"

    def _begin(self, one: Incident) -> str:
        begin = "" if one.since is None else f"from {self.clock(one.since)}"
        return f"{begin}, the first run," if one.first_run else begin

    @property
    def end(self) -> str:
        """Returns when an incident that still goes on was seen last."""
        if self.seen_until is None:
            return "at midnight"
        return f"in the last run, at {self.clock(self.seen_until)}"

    def clock(self, moment: datetime) -> str:
        """Returns the time of day, with its date if that is another day's."""
        days = (moment.date() - self.day).days
        if days == 1 and f"{moment:%H:%M}" == "00:00":
            return "24:00"
        return f"{moment:%Y-%m-%d %H:%M}" if days else f"{moment:%H:%M}"


def _word_event(one: Incident, period: Period) -> Sentence:
    group, when = Name(one.group or ""), period.of(one)
    topic: Sentence = (" of ", Name(one.topic)) if one.topic else ()
    if one.kind in _AT_WORST:
        did = "had no members" if one.is_empty else _AT_WORST[one.kind]
        return (group, *_word_worst(one, period, did), *_word_worst_partition(one), ".")
    if one.kind == Kind.BEHIND:
        fell = "caught up too slowly" if one.cause == SLOW else "fell behind"
        return (group, f" {fell} {when}.")
    if one.kind == Kind.REWOUND:
        back = format_quantity(one.records_rewound or 0, "record")
        return (group, f" was set back by {back}", *topic, f"{_word_rewind(one, period)}.")
    if one.kind == Kind.SKIPPED:
        did = "skipped records" if one.records_skipped else "passed all that was unread"
        if one.skip_reason == SET_AHEAD:
            did = "was set ahead"
        return (group, f" {did} {_word_begin(one, period)}.")
    if one.kind == Kind.LOST:
        of: Sentence = (" of ", Name(one.lost_of)) if one.lost_of else ()
        lost = f" lost {word_lost_records(one.records_lost or 0)}"
        return (
            group,
            lost,
            *of,
            f" {when}: deleted before they were committed{_word_retention(one)}.",
        )
    if one.kind == Kind.AT_RISK:
        return (group, f" came near to losing records {when}.")
    if one.kind == Kind.SLA_MISSED:
        limit = "" if one.sla_seconds is None else f" of {format_duration(one.sla_seconds)}"
        why = ": it waited for an open transaction" if one.cause == OPEN_TRANSACTION else ""
        return (group, f" missed its SLA{limit} {when}{why}.")
    if one.kind == Kind.REBALANCING:
        times = format_quantity(one.count or 0, "time")
        return (group, f" rebalanced {times} {when}.")
    return _word_cluster_event(one, period)


def _word_cluster_event(one: Incident, period: Period) -> Sentence:
    """Returns what happened, for kinds of incidents that no group causes."""
    when = period.of(one)
    count = one.count or 0
    if one.kind == Kind.UNKNOWN:
        return _word_unread(one, when)
    if one.kind == Kind.HELD_UP:
        names, more = _list_readers(one)
        on: Sentence = (f"{_list_partitions(one.partitions)} of ", Name(one.topic or ""))
        return ("A transaction on ", *on, " held up ", *names, f"{more} {when}.")
    if one.kind == Kind.GONE:
        at = "" if one.gone_at is None else f" since {period.clock(one.gone_at)}"
        lag = "" if not one.lag else f", and left {format_quantity(one.lag, 'record')} unread"
        if one.came_back:
            deleted = "" if one.gone_at is None else f" at {period.clock(one.gone_at)}"
            return (Name(one.group or ""), f" was deleted{deleted}{lag}, and was seen again later.")
        return (Name(one.group or ""), f" is gone{at}{lag}: the cluster no longer has this group.")
    if one.kind == Kind.NO_LEADER:
        where = format_quantity(count, "partition")
        of = (" of ", Name(one.topic)) if one.topic else ()
        led = "" if one.leader is None else f" that broker {one.leader} led"
        return (where, *of, f"{led} had no leader {when}{_word_sooner(one, period)}.")
    if one.kind == Kind.LEADER_MOVED:
        to = "broker" if len(one.moved_to) == 1 else "brokers"
        listed = format_list([str(number) for number in one.moved_to], _SOME_PARTITIONS)
        what = f"{format_quantity(count, 'partition')} of broker {one.leader}"
        led = "was" if count == 1 else "were"
        return (f"{what} {led} led by {to} {listed} {when}{_word_sooner(one, period)}.",)
    if one.kind == Kind.RECREATED:
        return ("Topic ", Name(one.topic or ""), f" was recreated {_word_begin(one, period)}.")
    if one.kind == Kind.NO_RUNS:
        return (_word_missing_runs(one, period),)
    if one.kind == Kind.NO_OBJECTS:
        objects = format_quantity(count, "object")
        return (f"{objects} of {one.measure} could not be read (named below).",)
    if one.kind == Kind.UNEVEN:
        where = f"partition {one.partitions[0]}" if one.partitions else "one partition"
        gets = f"{where} gets {word_share(one.share)} (even: {word_share(one.even)})"
        return (Name(one.topic or ""), f" is produced unevenly: {gets}.")
    return _word_unusual(one, period)


def _word_unread(one: Incident, when: str) -> Sentence:
    """Returns what could not be read: a group, groups' commits on a topic, or a topic."""
    why = word_name(find_word(one.cause or DASH).removeprefix("not read: "), 40)
    if one.topic is None:
        return (Name(one.group or ""), f" could not be read {when}: {why}. Its lag is unknown.")
    said = f" could not be read {when}: {why}."
    names, tail = _list_readers(one)
    if one.commits is not None:
        part = f"{format_quantity(one.commits, 'partition')} of " if one.commits else ""
        return ("Commits of ", *names, f"{tail} on {part}", Name(one.topic), said)
    where = _list_partitions(one.partitions).capitalize() + " of " if one.partitions else "Topic "
    if not names:
        return (where, Name(one.topic), said)
    it = "them" if len(one.partitions) > 1 else "it"
    unknown = (" The lag of ", *names, f"{tail} on {it} is unknown.")
    return (where, Name(one.topic), said, *unknown)


def _list_readers(one: Incident) -> tuple[Sentence, str]:
    """Returns the named groups, and how many more there are."""
    names = tuple(part for name in one.others for part in (Name(name), ", "))[:-1]
    more = (one.count or 0) - len(one.others)
    return names, f" and {format_quantity(more, 'more group')}" if more > 0 else ""


def _word_sooner(one: Incident, period: Period) -> str:
    """Returns how many of the counted partitions recovered earlier; empty if none did."""
    if one.sooner is None:
        return ""
    count, until = one.sooner
    return f" ({count:,} of them to {period.clock(until)} at the latest)"


def _word_missing_runs(one: Incident, period: Period) -> str:
    if one.measure is not None:
        seen = f"{one.count or 0:,} of {one.usual or 0:,.0f} runs of {one.measure} were seen"
        longest = "" if not one.minutes else f"; the longest gap lasted {word_minutes(one.minutes)}"
        return f"{seen}{longest}."
    begin = DASH if one.since is None else period.clock(one.since)
    end = "midnight" if one.until is None else period.clock(one.until)
    return (
        f"There were no runs from {begin} to {end} ({word_minutes(one.minutes)}): nothing was seen."
    )


def _word_unusual(one: Incident, period: Period) -> Sentence:
    what = MEASURES.get(one.measure or "") or word_name(one.measure, 40)
    when = period.of(one)
    if one.group is not None:
        measure = one.measure or ""
        value = word_known(choose_words(measure, one.is_least), one.value)
        usual = word_known(choose_words(measure), one.usual)
        return (Name(one.group), f": {what} {value} {when}, usually {usual}.")
    groups = f"{format_quantity(one.count or 0, 'group')} ({word_share(one.share)} of all)"
    than = "higher" if one.direction == "high" else "lower"
    return (f"The {what} of {groups} was {than} than usual at this time of the week, {when}.",)


def _word_costs(one: Incident, period: Period) -> Sentence:
    said: list[str | Name] = []
    if one.records_lost and one.kind != Kind.LOST:
        of = (" of ", Name(one.lost_of)) if one.lost_of else ()
        said += [f" It lost {word_lost_records(one.records_lost)}", *of, f"{_word_retention(one)}."]
    if one.records_skipped and one.skip_reason in SKIPPED_BEYOND_END:
        row = {"records_skipped": one.records_skipped, "skip_reason": one.skip_reason}
        said.append(f" {describe_skip(row)}.")
    elif one.records_skipped:
        said.append(f" {format_quantity(one.records_skipped, 'record')} were skipped unread.")
    if one.seconds_left is not None:
        said.append(_word_time_to_loss(one, period))
    if one.kind in _BEHIND_KINDS and one.lag:
        old = "" if not one.time_lag else f", the oldest {word_age(one.time_lag, one.is_least)} old"
        said.append(f" Up to {format_quantity(one.lag, 'record')} were unread{old}.")
    if one.records_leapt:
        count = format_quantity(one.records_leapt, "record")
        said.append(f" It is unknown whether it read or skipped {count}.")
    if one.kind == Kind.HELD_UP and one.lag:
        said.append(f" Up to {format_quantity(one.lag, 'record')} waited for its end.")
    if one.sla_missed_minutes:
        said.append(_word_sla(one))
    if one.gone_at and one.kind != Kind.GONE:
        at = period.clock(one.gone_at)
        again = f"was deleted at {at}, and was seen again later"
        said.append(f" The group {again if one.came_back else f'is gone since {at}'}.")
    return tuple(said)


_BEHIND_KINDS = (Kind.STOPPED, Kind.STALLED, Kind.BEHIND, Kind.LOST, Kind.REBALANCING)


def _word_retention(one: Incident) -> str:
    """Returns the retention and the one that had been enough.

    Empty if retention by age was not the cause.
    """
    if one.unlimited:
        return " (no retention by age is set)"
    if one.retention is None or one.retention_enough is None:
        return ""
    kept = f" (kept for {format_duration(one.retention)}"
    return f"{kept}; {format_duration(one.retention_enough, math.ceil)} would have been enough)"


def _word_time_to_loss(one: Incident, period: Period) -> str:
    left = word_time_left(one.seconds_left or 0.0)
    at = "" if one.seconds_left_at is None else f" at {period.clock(one.seconds_left_at)}"
    if one.still:
        return f" Unread records are deleted in {left} (as of{at[3:]}) unless they are read."
    near = f" The first unread record was {left} from deletion{at}"
    if one.loss_unseen or (one.seconds_left or 0.0) < STILL_SECONDS:
        # a group may lose records and go on at the log's beginning between two runs
        return f"{near}; no run saw whether any was deleted."
    return f"{near}; nothing was lost."


def _word_sla(one: Incident) -> str:
    of = "" if one.sla_seconds is None else f" of {format_duration(one.sla_seconds)}"
    missed = word_minutes(one.sla_missed_minutes)
    whole = ""
    if one.sla_minutes is not None:
        all_day = one.sla_minutes >= WHOLE_DAY_MINUTES
        whole = " of the day" if all_day else f", of {word_minutes(one.sla_minutes)} that are known"
    if one.kind == Kind.SLA_MISSED:
        return f" It was missed for {missed}{whole}."
    return f" The SLA{of} was missed for {missed}{whole}."


def _word_rewind(one: Incident, period: Period) -> str:
    at = _word_begin(one, period) if one.worst is None else f"at {period.clock(one.worst[0])}"
    over = one.until
    if one.last_seen:
        return f" {at} and had not read them again when last seen, at {period.clock(one.last_seen)}"
    if over and over == one.gone_at:
        return f" {at} and had not read them again"
    if over is None:
        return (
            f" {at} and has not read them again, still {period.of(one).rpartition(', still ')[2]}"
        )
    return f" {at} and had read them again at {period.clock(over)}"


def _word_begin(one: Incident, period: Period) -> str:
    return "" if one.since is None else f"at {period.clock(one.since)}"


def _name_consumer(who: str | None, host: str | None) -> Sentence:
    if not who:
        return ()
    return ("consumer ", Name(who), *((" on ", Name(host)) if host else ()))


def _word_worst(one: Incident, period: Period, did: str) -> Sentence:
    """Returns what the group did at its worst and when, within the incident if that is longer."""
    if one.worst is None:
        return (f" {did} {period.of(one)}",)
    begin, until, is_most = one.worst
    end = period.end if until is None else f"to {period.clock(until)}"
    times = f"{'' if is_most else 'at times '}from {period.clock(begin)} {end}"
    return (f" was behind {period.of(one)}; it {did} {times}",)


def _word_worst_partition(one: Incident) -> Sentence:
    """Returns the worst partition of a group with members.

    Nothing if the cause names a partition.
    """
    if one.is_empty or one.why or not one.partitions or one.topic is None:
        return ()
    worst: Sentence = (f"its worst partition ({one.partitions[0]} of ", Name(one.topic), ")")
    if one.kind == Kind.STOPPED:
        return (": nobody owned ", *worst)
    who = _name_consumer(one.client or one.member, one.host) or ("a consumer",)
    return (": ", *who, " owns ", *worst, " and did not move it")


def _word_why(one: Incident, period: Period) -> Sentence:
    """Returns the collector's cause, with the last time it was seen if that was before the end."""
    if one.why is None:
        return ()
    as_of = "" if one.named_at is None else f" As of {period.clock(one.named_at)}:"
    return (f"{as_of} {one.why}.",)


def word_share(part: float | None) -> str:
    """Returns a share between 0 and 1 in per cent; a dash if it is unknown."""
    return word_known(format_share, part)


def word_minutes(count: float | None, space: str = " ") -> str:
    """Returns a duration given in minutes; a dash if it is unknown."""
    return word_known(partial(format_duration, space=space), None if count is None else 60 * count)


def _list_partitions(numbers: Sequence[int]) -> str:
    if not numbers:
        return "its partitions"
    listed = format_list([str(number) for number in numbers], _SOME_PARTITIONS)
    return f"partition{'s' if len(numbers) > 1 else ''} {listed}"
