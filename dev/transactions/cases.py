# SPDX-License-Identifier: Apache-2.0
"""Cases drawn by a seed, and what of the runs' answers was wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from dev.transactions.planted import HEALTHY, Case, Look, Random, Reader, Writer
from kafka_lag.contract import OPEN_TRANSACTION, STALL, STOP, WARN

MINUTES = 420
# When readers get stuck or stop, and transactions hang.
_TURNS = (270, 300)
_WINDOW_MINUTES = 10
# Runs without anything new that make a rest, and how far below the end.
_REST_RUNS, _MOST_OFFSETS = 4, 10
BAD = (STALL, STOP, WARN)

_COUNTS = {
    Reader.COMMITS_RECORDS: 40,
    Reader.COMMITS_MARKERS: 10,
    Reader.STUCK: 20,
    Reader.STOPPED: 10,
    Reader.SLOW: 5,
    Reader.LEAVES_SOME: 5,
    Reader.LEAVES_MORE: 5,
}
_HANGING = 50


def draw_cases(seed: int) -> list[Case]:
    """So many of each kind; the same seed draws the same."""
    rng = np.random.default_rng([37, seed])
    cases: list[Case] = []
    for reader, count in _COUNTS.items():
        names = (f"{reader.name.lower()}-{number:02}" for number in range(count))
        cases += [_draw(rng, seed, name, reader) for name in names]
    for number in range(_HANGING):
        reader = HEALTHY[int(rng.integers(len(HEALTHY)))]
        cases.append(_draw(rng, seed, f"hangs-{number:02}", reader, hangs=True))
    return cases


def _draw(rng: Random, seed: int, name: str, reader: Reader, *, hangs: bool = False) -> Case:
    turns = hangs or reader in (Reader.STUCK, Reader.STOPPED)
    leaves = 0
    if reader == Reader.LEAVES_SOME:
        leaves = int(rng.integers(3, 10))
    if reader == Reader.LEAVES_MORE:
        leaves = int(rng.integers(12, 60))
    return Case(
        name,
        _draw_writer(rng),
        reader,
        delay=float(rng.uniform(0.2, 8.0)),
        seed=(seed, int(rng.integers(2**31))),
        leaves=leaves,
        turns_at=int(rng.integers(*_TURNS)) if turns else None,
        hangs=hangs,
    )


def _draw_writer(rng: Random) -> Writer:
    """One record at a time or batches; one marker or several; now and then aborted."""
    most = int(rng.choice([1, 1, 3, 20, 200]))
    seconds = float(rng.choice([0.5, 2.0, 6.0]))
    return Writer(
        records=(1, most),
        seconds=(seconds / 5, seconds),
        a_minute=(int(rng.integers(2, 6)), int(rng.integers(6, 40))),
        busy=(2, int(rng.integers(4, 20))),
        quiet=(6, int(rng.integers(8, 45))),
        producers=int(rng.choice([1, 1, 2, 3])),
        aborted=float(rng.choice([0.0, 0.0, 0.05, 0.2])),
    )


@dataclass(slots=True)
class Score:
    """What was right and wrong, in runs or cases by a word for each, and what was wrong, named."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, word: str, *, right: bool = True, of: str = "") -> None:
        """One more; `of` names it where it is wrong."""
        self.counts[word] += 1
        if not right:
            self.wrong.append(f"{of}: {word}")


def judge(cases: Sequence[Case], said: Mapping[str, list[Look]]) -> Score:
    """The score of what whole runs said."""
    score = Score()
    for case in cases:
        looks = said[case.name]
        if case.hangs:
            _judge_hanging(case, looks, score)
        if case.reader in HEALTHY:
            _judge_healthy(case, looks, score)
        elif case.reader == Reader.STUCK:
            _judge_stuck(case, looks, score)
        elif case.reader == Reader.STOPPED:
            _judge_stopped(case, looks, score)
        else:
            _judge_late(case, looks, score)
    return score


def rests(looks: Sequence[Look]) -> Iterator[tuple[int, int]]:
    """When each rest was over, and its distance as it began: all is read, up to ten offsets below
    the end, and for four runs nothing comes. What comes later without a record lengthens none.
    """
    for _, group in groupby(looks, key=lambda each: each.commit):
        rest = list(group)
        _, first = next(groupby(rest, key=lambda each: each.end))
        same = list(first)
        near = 1 <= same[-1].distance <= _MOST_OFFSETS and not same[-1].unread_minutes
        if len(same) >= _REST_RUNS and near and rest[-1] is not looks[-1]:
            yield rest[-1].minute + 1, same[-1].distance


def _judge_healthy(case: Case, looks: Sequence[Look], score: Score) -> None:
    """Never STALL, STOP or WARN once two rests are over, at distances that it has rested at."""
    found = list(rests(looks))
    known = found[1][0] if len(found) > 1 else len(looks)
    for each in looks:
        bad = each.status in BAD
        longest = max((distance for over, distance in found if over <= each.minute), default=0)
        if each.minute < known:
            score.add(f"healthy, before the second rest: {'false' if bad else 'right'}")
        elif not bad:
            score.add("healthy: right")
        elif not each.seen_open:
            score.add("healthy, no transaction seen yet: false")
        elif each.distance > _MOST_OFFSETS:
            score.add("healthy, more than ten offsets below the end: false")
        elif each.distance > longest:
            score.add("healthy, farther below the end than at any rest before: false")
        else:
            score.add(f"healthy: false {each.status}", right=False, of=f"{case.name} {each}")


def _judge_stuck(case: Case, looks: Sequence[Look], score: Score) -> None:
    """Reported within the window after the next record, and two runs."""
    turn = case.turns_at or 0
    after = [each for each in looks if each.minute > turn]
    came = next((e.minute for e in after if e.end != after[0].end), None)
    if came is None or not after[-1].unread_minutes:
        score.add("stuck: no record followed", right=False, of=case.name)
        return
    by = came + _WINDOW_MINUTES + 2
    reported = any(each.status in (STALL, STOP) for each in after if each.minute <= by)
    score.add(f"stuck: {'reported' if reported else 'missed'}", right=reported, of=case.name)


def _judge_stopped(case: Case, looks: Sequence[Look], score: Score) -> None:
    turn = case.turns_at or 0
    old = [e for e in looks if e.minute > turn and e.unread_minutes > _WINDOW_MINUTES + 2]
    if not old:
        score.add("stopped: nothing was left unread")
        return
    first = old[0]
    right = first.status in (STALL, STOP)
    word = "reported" if right else "late"
    score.add(f"stopped: {word}", right=right, of=f"{case.name} {first}")


def _judge_late(case: Case, looks: Sequence[Look], score: Score) -> None:
    """In how many runs of those with an old unread record it was taken for one that rests."""
    old = [e for e in looks if e.unread_minutes > _WINDOW_MINUTES + 2]
    hidden = sum(e.method == "marker" for e in old)
    score.counts[f"{case.reader}: old records"] += len(old)
    score.counts[f"{case.reader}: old records taken for markers"] += hidden
    if hidden and case.reader != Reader.LEAVES_SOME:
        score.wrong.append(f"{case.name}: {hidden} runs of {len(old)} taken for a rest")


def _judge_hanging(case: Case, looks: Sequence[Look], score: Score) -> None:
    """Named by the second run that sees it, its beginning within an interval."""
    turn = case.turns_at or 0
    at = turn + 1
    named = next(
        (e for e in looks if e.minute >= at and e.reason == OPEN_TRANSACTION and e.named_since),
        None,
    )
    right = named is not None and named.minute <= at + 1
    score.add(f"open transaction: {'named' if right else 'late'}", right=right, of=case.name)
    if named is not None and named.named_since is not None:
        near = turn <= named.named_since <= turn + 1
        score.add(f"its begin: {'near' if near else 'off'}", right=near, of=f"{case.name} {named}")
