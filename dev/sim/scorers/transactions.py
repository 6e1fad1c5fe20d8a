# SPDX-License-Identifier: Apache-2.0
"""What the collector calls consumers of topics that are written in transactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from dev.sim.cases.transactions import HEALTHY, MINUTES, Case, Reader, Transactions, draw_cases
from dev.sim.reading import MINUTE_MS
from dev.sim.run import BEGIN, run
from kafka_lag.contract import OPEN_TRANSACTION, STALL, STOP, WARN
from kafka_lag.lag.model import Snapshot

_WINDOW_MINUTES = 10
# A rest has so many runs without anything new, and is so far below the end at most.
_REST_RUNS, _MOST_OFFSETS = 4, 10
BAD = (STALL, STOP, WARN)


@dataclass(frozen=True, slots=True)
class Look:
    """What a run said of a case, and what is true then; times in minutes after the first run.

    `distance`: from its `commit` to the end of what can be read. `seen_open`: a run has seen an
    open transaction of this topic.
    """

    minute: int
    status: str | None
    method: str | None
    reason: str | None
    named_since: float | None
    unread_minutes: float
    end: int
    commit: int
    distance: int
    seen_open: bool


def score(seed: int) -> Score:
    """Returns the score of cases that are drawn by a seed."""
    cases = draw_cases(seed)
    return judge(cases, look(cases, MINUTES))


def look(cases: Sequence[Case], minutes: int) -> Mapping[str, list[Look]]:
    """Returns what each run says of each case."""
    cluster = Transactions(cases, minutes)
    said: dict[str, list[Look]] = {case.name: [] for case in cases}
    seen_open: set[str] = set()
    for report in run(cluster, minutes):
        found, minute = _by_group(report.snapshot), cluster.minute
        for each, commit in zip(cluster.consumers, cluster.commits, strict=True):
            name = each.case.name
            end, stable = each.log.end(cluster.ends_read), each.log.stable(cluster.ends_read)
            if stable < end and commit < end:
                seen_open.add(name)
            since = each.unread_since(60.0 * minute)
            said[name].append(
                Look(
                    minute,
                    *found[name],
                    unread_minutes=0.0 if since is None else minute - since / 60.0,
                    end=end,
                    commit=commit,
                    distance=stable - commit,
                    seen_open=name in seen_open,
                )
            )
    return said


def _by_group(
    snapshot: Snapshot,
) -> dict[str, tuple[str | None, str | None, str | None, float | None]]:
    rows, groups = snapshot.group_partitions, snapshot.groups
    methods = dict(
        zip(
            rows.strings("consumer_group").to_list(),
            zip(
                rows.strings("status").to_list(),
                rows.strings("time_lag_method").to_list(),
                strict=True,
            ),
            strict=True,
        )
    )
    columns = (
        groups.strings("consumer_group").to_list(),
        groups.strings("status_reason").to_list(),
        groups.numbers("open_transaction_since").to_list(),
    )
    return {
        name: (*methods[name], reason, None if since is None else (since - BEGIN) / MINUTE_MS)
        for name, reason, since in zip(*columns, strict=True)
    }


@dataclass(slots=True)
class Score:
    """Counts of runs or cases by a word for each, and the wrong ones."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, word: str, *, right: bool = True, of: str = "") -> None:
        """Counts one more; `of` names it if it is wrong."""
        self.counts[word] += 1
        if not right:
            self.wrong.append(f"{of}: {word}")


def judge(cases: Sequence[Case], said: Mapping[str, list[Look]]) -> Score:
    """Returns the score of what runs said of cases."""
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
    """Yields when each rest was over, and its distance as it began.

    In a rest all is read, up to ten offsets below the end, and nothing comes for four runs. Offsets
    that come later without a record do not lengthen the distance.
    """
    for _, group in groupby(looks, key=lambda each: each.commit):
        rest = list(group)
        _, first = next(groupby(rest, key=lambda each: each.end))
        same = list(first)
        near = 1 <= same[-1].distance <= _MOST_OFFSETS and not same[-1].unread_minutes
        if len(same) >= _REST_RUNS and near and rest[-1] is not looks[-1]:
            yield rest[-1].minute + 1, same[-1].distance


def _judge_healthy(case: Case, looks: Sequence[Look], score: Score) -> None:
    """After two rests it is never STALL, STOP or WARN at a distance that it has rested at."""
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
    """It must be reported within the window after the next record, and two runs."""
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
    """Counts runs with an old unread record, and those in which it was taken for a rest."""
    old = [e for e in looks if e.unread_minutes > _WINDOW_MINUTES + 2]
    hidden = sum(e.method == "marker" for e in old)
    score.counts[f"{case.reader}: old records"] += len(old)
    score.counts[f"{case.reader}: old records taken for markers"] += hidden
    if hidden and case.reader != Reader.LEAVES_SOME:
        score.wrong.append(f"{case.name}: {hidden} runs of {len(old)} taken for a rest")


def _judge_hanging(case: Case, looks: Sequence[Look], score: Score) -> None:
    """It must be named by the second run that sees it, its beginning within an interval."""
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
