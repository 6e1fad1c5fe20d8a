# SPDX-License-Identifier: Apache-2.0
"""Strips: what runs see of one group and topic, a column a run, and what they must say.

    end     0  10  20  30
    commit  0  10  10  10
    owner   m  m   m   -
    status  ?  OK  OK  OK

Lines that are named in `SEEN` are read from the brokers; all others are expected columns of the
partition, or of its group after `group.`. `x3` repeats a value, or several in brackets, and `+20`
adds to the one before. A line that is shorter than the others goes on with its last value (and
`+20` with its steps), or is not compared there. `runs` says how many there are, else the longest
line. `-` and `?` are unknown, `.` is not compared, and `...` is so many dots that the line ends
with the last run. `stable end`: no transaction is open. A number after a name is that of the
partition, 0 unless it is given: `commit.1`. Times are minutes from the first run; `s`, `m`, `h`
and `d` are units of time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby, takewhile
from textwrap import dedent
from typing import Any, TypeAlias

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import begin, evaluate
from kafka_lag.lag.frame import DTYPES, Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading, LagReport, PreviousRuns, Snapshot
from kafka_lag.lag.run import Run
from kafka_lag.lag.steps import STEPS
from kafka_lag.lag.time_index import LookUp
from kafka_lag.snapshots.previous import Memory
from tests.builders import MINUTE, NOON, a_reading
from tests.functions.lag.time_index_fake import Broker, Log

ROW_STEPS = tuple(takewhile(lambda step: step.name != "roll_up", STEPS))
# Lines that are read, and their values where a strip does not say.
SEEN: dict[str, Any] = {
    "commit": 0,
    "end": 0,
    "start": 0,
    "stable": None,
    "owner": "m",
    "clock": 0,
    "topic_id": "id",
    "commit_epoch": None,
    # The broker's lag of a partition; a group with this line is a share group.
    "shared": None,
    # Unfinished records of a group of parallel consumers.
    "unfinished": None,
    "cleanup_policy": None,
    "retention_ms": None,
    "retention_bytes": None,
    # Of the group: why it was not read, and by default as many members as own something.
    "unread": None,
    "state": "Stable",
    "members": None,
    "epoch": "classic",
    "hash": None,
}
_OF_GROUP = ("unread", "state", "members", "epoch", "hash", "clock", "topic_id")
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_SKIPPED, _FILLED = ".", "..."
_GROUPED = re.compile(r"\((.*?)\)x(\d+)")

Values: TypeAlias = list[Any]


@dataclass(frozen=True, slots=True)
class Strip:
    """One group on one topic; lines by name and number of the partition."""

    seen: Mapping[tuple[str, int], Values]
    expected: Mapping[tuple[str, int], list[str]]
    runs: int

    @classmethod
    def of(cls, text: str) -> Strip:
        """From its lines."""
        lines: dict[tuple[str, int], list[str]] = {}
        for line in filter(None, map(str.strip, text.splitlines())):
            name, *words = _GROUPED.sub(lambda group: f"{group[1]} " * int(group[2]), line).split()
            name, number = re.fullmatch(r"(.*?)(?:\.(\d+))?", name).groups()  # type: ignore[union-attr]
            lines[name, int(number or 0)] = [each for word in words for each in _repeated(word)]
        longest = max(len(words) - words.count(_FILLED) for words in lines.values())
        runs = int(lines.pop(("runs", 0), [str(longest)])[0])
        seen = {key: _read(words, runs) for key, words in lines.items() if key[0] in SEEN}
        expected = {key: _filled(words, runs) for key, words in lines.items() if key[0] not in SEEN}
        return cls(seen, expected, runs)

    @property
    def partitions(self) -> int:
        """How many it has."""
        return 1 + max(number for _, number in self.seen)

    def at(self, name: str, number: int, run: int) -> Any:
        """What this run reads."""
        key = (name, 0 if name in _OF_GROUP else number)
        value = self.seen[key][run] if key in self.seen else SEEN[name]
        return self.at("end", number, run) if value == "end" else value


def _repeated(word: str) -> list[str]:
    value, _, times = word.rpartition("x")
    return [value] * int(times) if value and times.isdigit() else [word]


def _read(words: Sequence[str], runs: int) -> Values:
    found: Values = []
    for run in range(runs):
        word = words[min(run, len(words) - 1)]
        found.append(found[-1] + int(word[1:]) if word[0] == "+" else _value(word))
    return found


def _filled(words: list[str], runs: int) -> list[str]:
    if _FILLED in words:
        at = words.index(_FILLED)
        words = [*words[:at], *[_SKIPPED] * (runs - len(words) + 1), *words[at + 1 :]]
    return words


def _value(word: str) -> Any:
    if word in "-?":
        return None
    number = re.fullmatch(r"(-?\d[\d_]*(?:\.\d+)?)([smhd]?)", word)
    if number is None:
        return word
    figure = float(number[1]) if "." in number[1] else int(number[1])
    return figure * _UNITS.get(number[2], 1)


@dataclass(frozen=True)
class Strips:
    """Strips of which each run sees all, each a group with a topic of its own, by its name.

    `logs` are what the brokers' time index knows of a topic. Runs are an interval apart, but at the
    given `minutes`. Long strips about partitions alone leave out what each run says of groups.
    """

    texts: Mapping[str, str]
    rules: Rules = field(default_factory=Rules)
    logs: Mapping[str, Log] = field(default_factory=dict)
    minutes: Sequence[float] = ()
    of_groups: bool = True
    _cache: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> list[str]:
        """Those of the strips."""
        return list(self.texts)

    def check(self, name: str) -> None:
        """Asserts that all runs say what this strip expects."""
        different = list[str]()
        for (column, number), words in self._strips[name].expected.items():
            values = self.said(name, column, number)[: len(words)]
            said = [
                word if _is_said(word, value) else _word(value)
                for word, value in zip(words, values, strict=True)
            ]
            if said != words:
                different += [f"{column}.{number}", _line("expected", words), _line("said", said)]
        if different:
            raise AssertionError("\n".join([name, *different]))

    def said(self, name: str, column: str, number: int = 0) -> Values:
        """What each run says, times in minutes."""
        places = self._places(column)
        return [
            self._column(run, column)[at + number]
            if (at := places[run].get(name, -1)) >= 0
            else None
            for run in range(self._strips[name].runs)
        ]

    def _places(self, column: str) -> list[dict[str, int]]:
        """The first row of each group in the frame with this column, run by run."""
        frame = "group" if column.startswith("group.") else column
        kind = frame if frame in ("group", "scaling_lag") else "partition"
        if kind not in self._cache:
            self._cache[kind] = [_first_rows(_frame(each, column)) for each in self.reports]
        places: list[dict[str, int]] = self._cache[kind]
        return places

    def _column(self, run: int, column: str) -> Values:
        if (run, column) not in self._cache:
            name = column.removeprefix("group.")
            values = _frame(self.reports[run], column).columns[name].to_list()
            if _KINDS.get(name) == contract.TIMESTAMP:
                values = [None if each is None else (each - NOON) / MINUTE for each in values]
            self._cache[run, column] = values
        found: Values = self._cache[run, column]
        return found

    @cached_property
    def _strips(self) -> dict[str, Strip]:
        return {name: Strip.of(text) for name, text in self.texts.items()}

    @cached_property
    def reports(self) -> list[LagReport]:
        """The findings of each run, the oldest first."""
        strips, memory, found = self._strips, Memory.empty(), []
        times = {(name, n): log for name, log in self.logs.items() for n in range(9)}
        look_up = Broker(times, unanswered=strips.keys() - self.logs.keys())
        every, look = self.rules.interval_ms, evaluate if self.of_groups else evaluate_rows
        for run in range(max(strip.runs for strip in strips.values())):
            at = NOON + round(self.minutes[run] * MINUTE if self.minutes else run * every)
            now = {name: strip for name, strip in strips.items() if run < strip.runs}
            reading = _reading(now, run, at)
            report = look(reading, memory.previous_runs(), self.rules, at, look_up)
            memory = memory.add_run(report.snapshot, every, stored=True)
            found.append(report)
        return found


def evaluate_rows(
    reading: ClusterReading, previous: PreviousRuns, rules: Rules, at: int, look_up: LookUp
) -> LagReport:
    """The report of the steps that no step of a group comes before: half of the time is theirs."""
    evaluation = begin(reading, previous, Run(at, rules), look_up)
    for step in ROW_STEPS:
        step.take(evaluation)
    frames = (
        frame.with_columns(taken_at=evaluation.run.now(len(frame))).compacted()
        for frame in (evaluation.topics, evaluation.rows, evaluation.groups)
    )
    none = Frame({}, 0)
    return LagReport(Snapshot(at, *frames), none, none, 0, evaluation.look_ups, ())


def _reading(strips: Mapping[str, Strip], run: int, at: int) -> ClusterReading:
    def values(name: str, among: Mapping[str, Strip] = strips) -> Values:
        return [s.at(name, n, run) for s in among.values() for n in range(s.partitions)]

    def of_groups(name: str) -> Values:
        return [strip.at(name, 0, run) for strip in strips.values()]

    counts = {name: range(strip.partitions) for name, strip in strips.items()}
    owners = {
        (g, g, n): strips[g].at("owner", n, run) for g, count in counts.items() for n in count
    }
    own = [{owners[g, g, n] for n in count} - {None} for g, count in counts.items()]
    members = [len(o) if m is None else m for o, m in zip(own, of_groups("members"), strict=True)]
    logs: dict[str, Any] = {name: [] for name in strips}
    for name, number in ((name, n) for name, count in counts.items() for n in count):
        end = strips[name].at("end", number, run)
        start = strips[name].at("start", number, run)
        logs[name].append(end if isinstance(end, str) else (start, end))
    unread = dict(zip(strips, of_groups("unread"), strict=True))
    commits = {
        g: {g: [strips[g].at("commit", n, run) for n in count]} for g, count in counts.items()
    }
    read = {name: strip for name, strip in strips.items() if unread[name] is None}
    epochs = dict(zip(strips, of_groups("epoch"), strict=True))
    reading = a_reading(
        {name: unread[name] or commits[name] for name in strips},
        logs,
        at=at,
        owners=owners,
        topic_ids=dict(zip(strips, of_groups("topic_id"), strict=True)),
        epochs={name: epoch for name, epoch in epochs.items() if epoch != "classic"},
        stable={g: [strips[g].at("stable", n, run) for n in count] for g, count in counts.items()},
    )
    kept = [None if each is None else round(1_000 * each) for each in values("retention_ms")]
    topics = reading.topic_partitions.with_columns(
        cleanup_policy=Strings.of(values("cleanup_policy")),
        retention_ms=Column.optional([-1 if each == -1_000 else each for each in kept]),
        retention_bytes=Column.optional(values("retention_bytes")),
    )
    commit_epochs = Column.optional(values("commit_epoch", read))
    lags = Column.optional(values("shared", read))
    lags = lags.or_else(Column.optional(values("unfinished", read)))
    is_shared = [("shared", 0) in strip.seen for strip in strips.values()]
    share = Strings.constant(contract.SHARE, len(strips)).only(np.array(is_shared))
    known = reading.groups.strings("group_state").known
    return replace(
        reading,
        topic_partitions=_by_its_clock(topics, values("clock")),
        group_partitions=_by_its_clock(
            reading.group_partitions.with_columns(commit_epoch=commit_epochs, lag=lags),
            values("clock", read),
        ),
        groups=reading.groups.with_columns(
            members=Column.optional(members, DTYPES[contract.INT]).only(known),
            group_state=Strings.of(of_groups("state")).only(known),
            members_hash=Column.optional(of_groups("hash")).only(known),
            group_type=share.or_else(reading.groups.strings("group_type")),
        ),
    )


def _by_its_clock(frame: Frame, ahead: Values) -> Frame:
    """The same, read by a clock that is so many seconds ahead."""
    shift = Column.optional([1_000 * each for each in ahead])
    times = {"read_at", "asked_at"} & set(frame.columns)
    return frame.with_columns(**{name: frame.numbers(name) + shift for name in times})


_KINDS = contract.COLUMNS[contract.GROUPS] | contract.COLUMNS[contract.GROUP_PARTITIONS]


def _frame(report: LagReport, column: str) -> Frame:
    """The one that has this column."""
    if column == "scaling_lag":
        return report.scaling
    is_of_group = column.startswith("group.")
    return report.snapshot.groups if is_of_group else report.snapshot.group_partitions


def _first_rows(frame: Frame) -> dict[str, int]:
    names = frame.strings("consumer_group").to_list()
    return {str(name): at for at, name in reversed(list(enumerate(names)))}


def _is_said(word: str, value: Any) -> bool:
    if word == _SKIPPED:
        return True
    expected = _value(word)
    if isinstance(expected, (int, float)) and isinstance(value, (int, float)):
        return bool(value == pytest.approx(expected, rel=0.01, abs=0.01))
    return bool(value == expected)


def _word(value: Any) -> str:
    if value is None:
        return "?"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _line(kind: str, words: Sequence[str]) -> str:
    """A line of a strip, with what follows one another alike in one word."""
    short = [(word, len(list(alike))) for word, alike in groupby(words)]
    return f"  {kind:8} " + " ".join(word if n == 1 else f"{word}x{n}" for word, n in short)


def split_strips(text: str) -> dict[str, str]:
    """Strips by their names: each name is a line, and the strip is what is indented below it."""
    strips: dict[str, list[str]] = {}
    for line in filter(str.strip, dedent(text).splitlines()):
        if not line[0].isspace():
            name = line
        strips.setdefault(name, []).extend([line] if line[0].isspace() else [])
    return {name: "\n".join(lines) for name, lines in strips.items()}


def strip_of(**lines: Iterable[object]) -> str:
    """The text of a strip with these lines."""
    return "\n".join(f"{name} {' '.join(map(str, values))}" for name, values in lines.items())
