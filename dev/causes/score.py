# SPDX-License-Identifier: Apache-2.0
"""How often a program's answers are right: by case, group and run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dev.causes.cases import Case
from dev.causes.cluster import run_minutes
from kafka_lag import contract
from kafka_lag.lag.model import Snapshot

# The cause has to be named within so many runs in trouble, and a wrong one in none of so many.
IN_TIME, WATCHED = 3, 10

RIGHT, WRONG, NOT_EXPLAINED = "right", "wrong", "unexplained"
# What was planted made no trouble: there was nothing to name.
NO_TROUBLE = "no trouble"
VERDICTS = (RIGHT, WRONG, NOT_EXPLAINED, NO_TROUBLE)
HEALTHY = "(healthy)"

# A run of a case, and the cause it names by group: those it names none of are absent.
Named = Mapping[str, str]
Namer = Callable[[Snapshot], Named]


@dataclass(frozen=True, slots=True)
class Planted:
    """What is true in a case: its groups, and the causes that may be named of those in trouble."""

    case: str
    groups: tuple[str, ...]
    right: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of one group in one case; `named` is what was said, the wrong ones first."""

    case: str
    group: str
    right: frozenset[str]
    verdict: str
    named: tuple[str, ...]

    @property
    def kind(self) -> str:
        """What was planted."""
        return " or ".join(sorted(self.right)) if self.right else HEALTHY


@dataclass(frozen=True, slots=True)
class Run:
    """What one run showed, and what several programs make of it, by their names."""

    troubled: frozenset[str]
    named: Mapping[str, Named]


def record(case: Case, namers: Mapping[str, Callable[[], Namer]]) -> list[Run]:
    """All runs of a case, until each group has been in trouble for as long as it is watched."""
    programs = {name: make() for name, make in namers.items()}
    runs: list[Run] = []
    in_trouble: Counter[str] = Counter()
    for minute, snapshot in enumerate(run_minutes(case.cluster, case.minutes, case.change)):
        named = {name: program(snapshot) for name, program in programs.items()}
        troubled = find_troubled(snapshot) if minute >= case.begin else frozenset[str]()
        runs.append(Run(troubled, named))
        in_trouble.update(group for group in case.right if group in troubled or in_trouble[group])
        if case.right and all(in_trouble[group] >= WATCHED for group in case.right):
            break
    return runs


def find_troubled(snapshot: Snapshot) -> frozenset[str]:
    """Groups in WARN or ERR, those with a partition that has no leader, and those that an open
    transaction holds up."""
    groups, rows = snapshot.groups, snapshot.group_partitions
    bad = groups.strings("status").is_in([contract.WARN, contract.ERR])
    bad |= groups.numbers("held_up_records").known
    led = rows.strings("unread_reason").is_in([contract.NO_LEADER])
    names = groups.strings("consumer_group").only(bad).to_list()
    names += rows.strings("consumer_group").only(led).to_list()
    return frozenset(name for name in names if name is not None)


def plant(case: Case) -> Planted:
    """What is true in a simulated case."""
    return Planted(case.name, tuple(each.name for each in case.cluster.groups), case.right)


def judge(planted: Planted, runs: Sequence[Run], program: str) -> Iterator[Verdict]:
    """A verdict of each group of the case.

    A group in trouble: wrong if a wrong cause is named in any of the runs it is watched for, right
    if a right one is in time. A healthy one: wrong if a cause is named in any run.
    """
    for group in planted.groups:
        right = planted.right.get(group, frozenset())
        answers = [run.named[program].get(group) for run in runs]
        if right:
            ill = [number for number, run in enumerate(runs) if group in run.troubled]
            begin = ill[0] if ill else len(runs)
            answers = answers[begin : begin + WATCHED]
        named = [each for each in answers if each not in (None, contract.UNEXPLAINED)]
        bad = [each for each in named if each not in right]
        if bad:
            verdict = WRONG
        elif right and not answers:
            verdict = NO_TROUBLE
        elif not right or any(each in right for each in answers[:IN_TIME]):
            verdict = RIGHT
        else:
            verdict = NOT_EXPLAINED
        said = tuple(dict.fromkeys([*bad, *named]))
        yield Verdict(planted.case, group, right, verdict, tuple(str(each) for each in said))


def count(verdicts: Iterable[Verdict]) -> dict[str, Counter[str]]:
    """Verdicts by what was planted."""
    counts: dict[str, Counter[str]] = {}
    for each in verdicts:
        counts.setdefault(each.kind, Counter())[each.verdict] += 1
    return counts


def name_ours() -> Namer:
    """What the collector's own snapshots say."""

    def read(snapshot: Snapshot) -> Named:
        groups = snapshot.groups
        pairs = zip(
            groups.strings("consumer_group").to_list(),
            groups.strings("cause").to_list(),
            strict=True,
        )
        return {group: cause for group, cause in pairs if cause is not None}

    return read
