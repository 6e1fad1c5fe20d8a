# SPDX-License-Identifier: Apache-2.0
"""Checks the tasks needed, by trying other numbers of tasks.

Some services run the number of tasks that they are said to need. It must be within one of the
fewest tasks that keep the SLA. A service that keeps up shows nothing of its capacity, so it must
have no number. `kafka-lag tasks` must say that more tasks do not help if no number keeps the SLA,
and that something shared is full if more tasks read hardly more.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby

import numpy as np

from dev.sim.cases.services import KINDS, MINUTES, MOST, PROMISE, SEEN, Case, read_kind
from dev.sim.reading import FIRST, Floats, Mask
from dev.sim.run import run
from dev.sim.scorers import Line, print_lines
from dev.sim.services import STEP_SECONDS, Services, group_name
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import ByName, Rules, TaskSettings
from kafka_lag.wording.tasks import explain_limits

# The number is not followed before. Three minutes with a backlog make one, and more a better one.
_FOLLOWED_FROM = 10
# The share of what more tasks could read more that they do if nothing they share is full.
_LEAST_GAIN = 0.5


@dataclass(frozen=True, slots=True)
class Trial:
    """What each number of tasks does, from one task on: the oldest `age`, s, and records `read`."""

    case: Case
    age: Floats
    read: Floats

    @property
    def keeps(self) -> Mask:
        """Which numbers keep the promise, from one task on."""
        mask: Mask = self.age <= PROMISE
        return mask

    @property
    def fewest(self) -> int | None:
        """The fewest that keep the promise."""
        return int(np.argmax(self.keeps)) + 1 if self.keeps.any() else None

    def keeps_up(self, tasks: int) -> bool:
        """Returns whether nothing waits for longer than until the next poll."""
        return bool(self.age[tasks - 1] <= max(self.case.poll_seconds, STEP_SECONDS))

    def is_full(self, few: int, many: int) -> bool:
        """Returns whether many tasks read hardly more than few."""
        more = self.read[many - 1] - self.read[few - 1]
        return bool(more < _LEAST_GAIN * self.read[few - 1] * (many / few - 1))


def try_numbers(cases: Sequence[Case]) -> list[Trial]:
    """Returns what each number of tasks does, beginning without a backlog."""
    each_number = [case for case in cases for _ in range(MOST)]
    world = Services(each_number, [*range(1, MOST + 1)] * len(cases))
    ages = np.zeros(len(each_number))
    for _ in range(MINUTES):
        world.live_a_minute()
        ages = np.maximum(ages, world.ages())
    written = np.array([case.load.sum() * 60 * case.speed for case in each_number])
    shape = len(cases), MOST
    read = (written - world.lags()).reshape(shape)
    rows = zip(cases, ages.reshape(shape), read, strict=True)
    return [Trial(case, age, of_case) for case, age, of_case in rows]


def watch(services: Sequence[Case], *, follow: bool) -> list[Frame]:
    """Returns the rows that the collector makes of each service, run by run.

    With `follow` services run as many tasks as they need.
    """
    cases, starts = zip(*((each.behind_case, each.start) for each in services), strict=True)
    world = Services(cases, starts)
    tasks = ByName.of([("", TaskSettings(catch_up_seconds=PROMISE))])
    rules = Rules(lookup_budget=0, tasks=tasks)
    seen: list[Frame] = []
    for minute, report in enumerate(run(world, SEEN, rules, FIRST)):
        seen.append(report.snapshot.groups)
        needed = seen[-1].numbers("tasks_needed").to_list()
        for at, each in enumerate(services):
            if follow and needed[at] is not None and minute >= _FOLLOWED_FROM:
                world.change(at, min(max(needed[at], 1), MOST))
            elif each.grows_to is not None and minute == SEEN // 2:
                world.change(at, each.grows_to)
    whole = reduce(Frame.concat, seen)
    names = whole.strings("consumer_group")
    return [whole.where(names == group_name(at)) for at in range(len(services))]


def score(kind: str, services: Sequence[Case]) -> list[Line]:
    """Returns a verdict on each service of a kind."""
    trials = try_numbers(services)
    runs = watch(services, follow=kind == "advised")
    return [judge(kind, *each) for each in zip(services, trials, runs, strict=True)]


def judge(kind: str, service: Case, trial: Trial, runs: Frame) -> Line:
    """Returns the verdict on a service by the rows of its runs: what they say, and what is true."""
    needed = runs.numbers("tasks_needed").to_list()
    if kind == "advised":
        path = " ".join(str(number) for number, _ in groupby(needed))
        last, fewest = needed[-1], trial.fewest
        right = last is not None and fewest is not None and abs(last - fewest) <= 1
        return (service.name, path, fewest), "" if right else "no"
    if kind == "enough":
        words = "no number", "a number"
        is_said, is_true = needed[-1] is None, trial.keeps_up(service.start)
    elif kind == "limited":
        words = "more do not help", "more help"
        is_said = any(True for _ in explain_limits(runs.to_dicts()[-1]))
        is_true = trial.fewest is None
    else:
        words = "a store is full", "too few tasks"
        is_said = bool(runs.numbers("shared_limit_members").known.any())
        is_true = trial.is_full(service.start, service.grows_to or service.start)
    cells = service.name, words[not is_said], words[not is_true]
    return cells, "" if is_said is is_true else "no"


def print_verdicts(options: Namespace) -> bool:
    """Prints a line for each service."""
    right = True
    for kind in KINDS:
        if chosen := [each for each in read_kind(kind) if each.name.startswith(options.only)]:
            lines = score(kind, chosen)
            count = sum(not fault for _, fault in lines)
            title = f"{kind}: {count} of {len(lines)} right"
            right &= print_lines(title, "service | says | is", lines)
    return right
