# SPDX-License-Identifier: Apache-2.0
"""Whether `kafka-lag diff` says how many pages a change of rules adds or removes.

Groups are late in pulses, each of one age and far from the next, so what pages follows from the
ages, the lengths and the rules alone.
"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dev.documents import make_cluster, mute_between
from dev.sim.cases.text import read_sections, read_step
from dev.sim.reading import FIRST, MINUTE_MS
from dev.sim.scorers import Line, print_lines
from kafka_lag import contract
from kafka_lag_cli.replay.changes import Kind, find_changes
from kafka_lag_cli.replay.pages import find_pages
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_cli.state.groups_over_time import GroupsOverTime, Period

_CHANGES, _MINUTES, _APART = 20, 10 * 1_440, 360
# Runs that need not be bad.
_SPARE = 2
_GROUPS = ("billing", "stock", "audit", "mailer")


@dataclass(frozen=True, slots=True)
class Pulse:
    """Minutes in which a group is late by an age, s."""

    group: str
    begin: int
    minutes: int
    age: float


@dataclass(frozen=True, slots=True)
class Rules:
    """An SLA of all groups, in how many runs it pages, and minutes that are muted; None: none."""

    sla: int
    runs: int
    muted: tuple[int, int] | None = None

    def pages(self, pulse: Pulse) -> bool:
        """Returns true for a pulse that pages; muted ones do if they are still on at the end."""
        # An alarm sees a value a minute later, and is on while so many of its runs are bad.
        begin, end = pulse.begin + self.runs, pulse.begin + pulse.minutes + _SPARE + 1
        if self.muted and self.muted[0] <= begin < self.muted[1]:
            begin = self.muted[1]
        return pulse.age > self.sla and pulse.minutes >= self.runs and begin < end

    def keys(self) -> dict[str, Any]:
        """Returns the same as keys of a cluster."""
        runs = {"datapoints": self.runs, "periods": self.runs + _SPARE}
        keys: dict[str, Any] = {
            "sla_seconds": {".*": self.sla},
            "alarms": {"groups": list(_GROUPS), "sla_runs": dict.fromkeys(_GROUPS, runs)},
        }
        if self.muted:
            keys["mute"] = [mute_between(*(FIRST + at * MINUTE_MS for at in self.muted))]
        return keys


@dataclass(frozen=True, slots=True)
class Change:
    """Pulses under the rules before and after a change; `right`: how many pages it adds."""

    name: str
    pulses: list[Pulse]
    before: Rules
    after: Rules
    right: int


def draw_change(seed: int) -> Change:
    """Returns the change of a seed."""
    rng = np.random.default_rng(seed)
    pulses = list(_draw_pulses(rng))
    before, after = _draw_rules(rng), _draw_rules(rng)
    right = sum(after.pages(each) - before.pages(each) for each in pulses)
    return Change(str(seed), pulses, before, after, right)


def read_changes() -> Mapping[str, list[Change]]:
    """Returns the changes that are written down, by section."""
    sections = read_sections("changes.txt").items()
    return {each: [_read_change(*one) for one in changes] for each, changes in sections}


def _read_change(name: str, statements: list[str]) -> Change:
    rules, pulses, right = dict[str, Rules](), list[Pulse](), 0
    for verb, arguments, _ in map(read_step, statements):
        match verb:
            case "pages":
                (right,) = arguments
            case "before" | "after":
                rules[verb] = Rules(*arguments)
            case _:
                pulses.append(Pulse(verb, *arguments))
    return Change(name, pulses, rules["before"], rules["after"], right)


def score(change: Change, seed: int) -> Line:
    """Returns a line on a change: what it adds and removes, and the fault."""
    before, after, right = change.before, change.after, change.right
    recorded = _record(change.pulses, np.random.default_rng(seed))
    pages = [find_pages(recorded, make_cluster("shop", **each.keys())) for each in (before, after)]
    found = Counter(change.kind for change in find_changes(*pages))
    said = found[Kind.ADDED] - found[Kind.REMOVED]
    return (change.name, before, after, f"{right:+}", f"{said:+}"), "" if said == right else "wrong"


def _draw_pulses(rng: np.random.Generator) -> Any:
    for group in _GROUPS:
        for begin in range(_APART, _MINUTES - _APART, _APART):
            minutes, age = int(rng.integers(1, 90)), float(np.exp(rng.uniform(4, 8)))
            yield Pulse(group, begin + int(rng.integers(0, 120)), minutes, age)


def _draw_rules(rng: np.random.Generator) -> Rules:
    begin, lasts = int(rng.integers(0, _MINUTES // 2)), int(rng.integers(600, 4_000))
    muted = (begin, begin + lasts) if rng.integers(3) == 0 else None
    return Rules(int(np.exp(rng.uniform(4.5, 7.5))), int(rng.integers(2, 30)), muted)


def _record(pulses: list[Pulse], rng: np.random.Generator) -> Recorded:
    shape = (_MINUTES, len(_GROUPS))
    ages = rng.uniform(0, 30, shape)
    for each in pulses:
        ages[each.begin : each.begin + each.minutes, _GROUPS.index(each.group)] = each.age
    columns = {
        "time_lag_seconds": ages,
        "lag": np.ones(shape),
        "status": np.full(shape, float(contract.GROUP_STATUS_VALUES[contract.OK])),
        "incident_since": np.full(shape, np.nan),
        "seconds_until_loss": np.full(shape, contract.NO_LOSS_SECONDS),
    }
    period = Period(FIRST, FIRST + _MINUTES * MINUTE_MS - 1, MINUTE_MS)
    times, has_run = FIRST + np.arange(_MINUTES) * MINUTE_MS, np.ones(_MINUTES, bool)
    over_time = GroupsOverTime(period, _GROUPS, times, has_run, 0, columns)
    return Recorded(FIRST, has_run, 0, _GROUPS, over_time)


def print_verdicts(options: Namespace) -> bool:
    """Prints a line for each change of rules: drawn ones and those that are written down."""
    first = options.seed * _CHANGES
    drawn = [draw_change(seed) for seed in range(first, first + _CHANGES)]
    written = [each for section in read_changes().values() for each in section]
    chosen = [each for each in (*drawn, *written) if each.name.startswith(options.only)]
    lines = [score(each, options.seed) for each in chosen]
    return print_lines("changes of rules", "change | before | after | pages | said", lines)
