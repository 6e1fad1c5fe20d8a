# SPDX-License-Identifier: Apache-2.0
"""Checks that the cause of each group's trouble is named, and that healthy groups have no cause."""

from __future__ import annotations

import math
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dev.sim.cases.drawn import SETS
from dev.sim.events import MINUTE, Case
from dev.sim.live.waves import Watched, run_live
from dev.sim.run import WATCHED, find_troubled, run_case
from dev.sim.scorers import print_lines, score_chosen
from dev.sim.truth import Effect, list_effects
from kafka_lag import contract
from kafka_lag.lag.model import Snapshot

# The cause must be named within this many runs in trouble. No run of the `WATCHED` may name a wrong
# cause; if a cause of the case ends, no run until the end of the case.
IN_TIME = 3
# This many seconds after its end a cause must not be named any more, and a cause that is left must
# be named. Averages of rates have a half-life of half the window.
GRACE = 10 * MINUTE

RIGHT, WRONG, NOT_EXPLAINED = "right", "wrong", "unexplained"
# A right cause was named that was over, or not yet one.
PAST = "past"
# The collector saw no trouble in a group that suffered, so there was nothing to name.
NO_TROUBLE = "no trouble"
VERDICTS = (RIGHT, WRONG, PAST, NOT_EXPLAINED, NO_TROUBLE)
HEALTHY = "(healthy)"
_NONE_NAMED = (None, contract.UNEXPLAINED, contract.CATCHING_UP)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one group of a case; `named` are the causes it was given, wrong ones first."""

    case: str
    group: str
    right: frozenset[str]
    verdict: str
    named: tuple[str, ...]

    @property
    def kind(self) -> str:
        """Returns the right causes in words."""
        return " or ".join(sorted(self.right)) if self.right else HEALTHY


@dataclass(frozen=True, slots=True)
class Run:
    """The groups in trouble in one run, and the cause that it names for each group.

    `second` is the run's, after the warm-up.
    """

    troubled: frozenset[str]
    named: Mapping[str, str]
    second: float = 0.0


# From this many runs before the first event no cause may be named for a healthy group, on brokers
# as well.
_BEFORE = 10


def score(case: Case) -> list[Verdict]:
    """Returns the verdicts on a case in memory."""
    return judge_runs(case, run_case(case), round(case.warm_up / MINUTE))


def judge_runs(case: Case, snapshots: Iterable[Snapshot], first: int) -> list[Verdict]:
    """Returns the verdicts on the runs of a case, as far as they are needed."""
    right = list_effects(case)
    ends = any(each.until < math.inf for effects in right.values() for each in effects)
    runs: list[Run] = []
    in_trouble: Counter[str] = Counter()
    for number, snapshot in enumerate(snapshots):
        run = read_run(snapshot, number - first)
        runs.append(run)
        in_trouble.update(name for name in right if name in run.troubled or in_trouble[name])
        if right and not ends and all(in_trouble[name] >= WATCHED for name in right):
            break
    return list(
        judge(case.name, {name: right.get(name, ()) for name in case.groups}, runs, ends=ends)
    )


def read_run(snapshot: Snapshot, number: int) -> Run:
    """Returns a run's groups in trouble and causes; none before the case begins, at number 0."""
    groups = snapshot.groups
    pairs = zip(
        groups.strings("consumer_group").to_list(), groups.strings("cause").to_list(), strict=True
    )
    named = {group: cause for group, cause in pairs if cause is not None}
    troubled = find_troubled(snapshot) if number >= 0 else frozenset()
    # A run sees what happened in the minute before it.
    return Run(troubled, named, (number + 1) * MINUTE)


def judge(
    case: str, right: Mapping[str, Sequence[Effect]], runs: Sequence[Run], *, ends: bool = False
) -> Iterator[Verdict]:
    """Yields a verdict on each group; a healthy one has no causes that are right.

    A group in trouble: wrong if a wrong cause is named in any of the runs it is watched for, right
    if a right one is named in time. If a cause `ends` before the case does, all runs are watched: a
    cause must not be named when it is over, and the one that is left must be. A healthy group:
    wrong if a cause is named in any run.
    """
    for group, effects in right.items():
        causes = frozenset(each.cause for each in effects)
        watched = list(runs)
        if causes:
            ill = [number for number, run in enumerate(runs) if group in run.troubled]
            begin = ill[0] if ill else len(runs)
            watched = watched[begin : None if ends else begin + WATCHED]
        answers = [run.named.get(group) for run in watched]
        named = [each for each in answers if each not in _NONE_NAMED]
        bad = [each for each in named if each not in causes]
        past = [each.named[group] for each in watched if _names_past(each, group, effects)]
        if bad:
            verdict = WRONG
        elif ends and past:
            verdict = PAST
        elif causes and not answers:
            verdict = NO_TROUBLE
        elif not causes or (
            any(each in causes for each in answers[:IN_TIME])
            and not _misses(watched, group, effects)
        ):
            verdict = RIGHT
        else:
            verdict = NOT_EXPLAINED
        said = tuple(dict.fromkeys([*bad, *past, *named]))
        yield Verdict(case, group, causes, verdict, tuple(str(each) for each in said))


def _names_past(run: Run, group: str, effects: Sequence[Effect]) -> bool:
    """Returns true if the run names a right cause that is over or has not begun."""
    named = [each for each in effects if each.cause == run.named.get(group)]
    return bool(named) and not any(each.holds(run.second, GRACE) for each in named)


def _misses(runs: Sequence[Run], group: str, effects: Sequence[Effect]) -> bool:
    """Returns true if a cause is over and the cause before it is not named again."""
    for over in effects:
        before = [each for each in effects if each.since < over.until < each.until]
        left = [
            run.named.get(group) in {each.cause for each in before if each.holds(run.second)}
            for run in runs
            if run.second >= over.until + GRACE and group in run.troubled
        ]
        if before and len(left) >= IN_TIME and not any(left[:IN_TIME]):
            return True
    return False


def print_verdicts(options: Namespace) -> bool:
    """Prints the verdicts on cases in memory, or beside these on real brokers."""
    every = SETS[options.cases](options.seed)
    if options.live:
        chosen = [case for case in every if case.name.startswith(options.only)]
        return _print_table(list(_score_live(run_live(chosen, options.folder))))
    scores = score_chosen(score, ((each,) for each in every), options)
    return _print_table(each for verdicts in scores for each in verdicts)


def _score_live(cases: Iterable[Watched]) -> Iterator[Verdict]:
    """Yields the verdicts on brokers, and prints each beside that in memory."""
    for each in cases:
        in_memory = {found.group: found for found in score(each.case)}
        before = max(each.first - _BEFORE, 0)
        for found in judge_runs(each.case, each.snapshots[before:], each.first - before):
            line = f"{found.case:28} {found.group:8} {found.kind:28}"
            if found.group in each.ill_before:
                print(f"{line} was in trouble before anything happened")
                continue
            print(f"{line} {found.verdict:11} in memory {in_memory[found.group].verdict}")
            yield found


def _print_table(verdicts: Iterable[Verdict]) -> bool:
    """Prints wrong verdicts, then counts by cause; returns True if all verdicts are right."""
    counts: dict[str, Counter[str]] = {}
    for each in verdicts:
        counts.setdefault(each.kind, Counter())[each.verdict] += 1
        if each.verdict != RIGHT:
            print(f"{each.case} {each.group}: {each.kind}: {each.verdict}, said {each.named}")
    lines = [
        ((kind, *(found[each] for each in VERDICTS)), "" if set(found) == {RIGHT} else "not all")
        for kind, found in sorted(counts.items())
    ]
    return print_lines("causes", " | ".join(("what is true", *VERDICTS)), lines)
