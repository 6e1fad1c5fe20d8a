# SPDX-License-Identifier: Apache-2.0
"""Cases brought onto the brokers, all together, and the truth about them."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from confluent_kafka.admin import AdminClient

from dev.benchmarks.time_lag import brokers
from dev.benchmarks.time_lag.brokers import (
    Living,
    Place,
    Writer,
    keys,
    read_back,
    write_live,
    write_transactions,
)
from dev.benchmarks.time_lag.cases import Case, Random, Records
from dev.benchmarks.time_lag.logs import Floats, Ints, Log, append_moments, chosen, reached
from dev.kafka import KafkaCluster
from dev.kafka.readiness import wait_until


def logs_of(
    case: Case,
    plan: Mapping[Place, Records],
    living: Mapping[Place, Living],
    acknowledged: list[Ints],
) -> dict[Place, Log]:
    """Logs of a case, its partitions in order.

    Where the broker dates records, the truth is when their acknowledgements came (`acknowledged`,
    by partition); in transactions, when the producer wrote them.
    """
    if acknowledged:
        return {at: _of_moments(living[at], acknowledged[at[1]]) for at in plan}
    if case.pace == "transactions":
        return {at: _of_moments(living[at], living[at].times) for at in plan}
    return {at: _as_stated(living[at], records) for at, records in plan.items()}


def _as_stated(living: Living, records: Records) -> Log:
    written = np.arange(len(records.times))
    if living.end != len(written):
        raise RuntimeError(f"The log ends at {living.end} after {len(written)} records")
    start, end = living.start, living.end
    return Log(living.offsets, living.times, start, end, written, records.appended)


def _of_moments(living: Living, moments: Ints) -> Log:
    came = np.maximum.accumulate(moments)
    return Log(living.offsets, came, living.start, living.end, living.offsets, came)


@dataclass(frozen=True, slots=True)
class Prepared:
    """One row a commit; `reached` and `appended` as in `logs`, ms, NaN for none."""

    case: Case
    logs: Mapping[Place, Log]
    groups: tuple[str, ...]
    places: tuple[Place, ...]
    committed: Ints
    reached: Floats
    appended: Floats

    def rows(self) -> Iterator[tuple[str, Place, int]]:
        """Group, partition and offset of each commit."""
        return zip(self.groups, self.places, self.committed.tolist(), strict=True)


def prepared_of(case: Case, logs: Mapping[Place, Log], rng: Random) -> Prepared:
    """The commits that a case wants in these logs, one a group and partition, and their truth."""
    rows: list[tuple[str, Place, int]] = []
    truth: list[tuple[Floats, Floats]] = []
    for at, log in logs.items():
        groups = case.groups_of(at[0])
        picked = chosen(
            log,
            rng,
            len(groups),
            below_start=case.below_start,
            unread_since=case.unread_since,
        )
        rows += [(group, at, c) for group, c in zip(groups, picked.tolist(), strict=True)]
        truth.append((reached(log, picked), append_moments(log, picked)))
    names, places, committed = zip(*rows, strict=True)
    times = [np.concatenate(parts) for parts in zip(*truth, strict=True)]
    return Prepared(case, logs, names, places, np.array(committed, np.int64), *times)


_COMPACTED_TO = 0.6
_UNCHANGED_SECONDS = 2.0
_LIVE_AFTER_MS = 1_000


class Stage:
    """The cluster on which cases are prepared; `now` is where their records end, ms."""

    def __init__(self, cluster: KafkaCluster, seed: int, say: Callable[[str], None]) -> None:
        self._admin: AdminClient = cluster.admin()
        self._bootstrap = cluster.bootstrap("PLAINTEXT")
        self._seed = seed
        self._say = say
        self.now = int(time.time() * 1000)

    def prepare(self, cases: Sequence[Case]) -> list[Prepared]:
        """Write, delete, compact, read back and commit; live cases are written beside others."""
        plans = {case.name: self._planned(case) for case in cases}
        self._say(f"creating {sum(case.topics for case in cases)} topics")
        brokers.create_topics(self._admin, self._wanted(cases, plans))
        with ThreadPoolExecutor() as pool:
            live = {
                case.name: pool.submit(self._write_live, case)
                for case in cases
                if case.pace != "at once"
            }
            self._write([case for case in cases if case.pace == "at once"], plans)
            acknowledged = _results(live)
        self._say("reading everything back")
        places = [place for plan in plans.values() for place in plan]
        living = read_back(self._admin, self._bootstrap, places)
        prepared = []
        for case in cases:
            logs = logs_of(case, plans[case.name], living, acknowledged.get(case.name, []))
            prepared.append(prepared_of(case, logs, self._random(case, "commits")))
        self._commit(prepared)
        return prepared

    def _planned(self, case: Case) -> dict[Place, Records]:
        rng = self._random(case, "records")
        return {
            (topic, number): records
            for topic in case.names
            for number, records in enumerate(case.partitions(rng, self.now))
        }

    def _random(self, case: Case, purpose: str) -> Random:
        """The same for a case whatever others are chosen."""
        return np.random.default_rng([self._seed, zlib.crc32(f"{case.name} {purpose}".encode())])

    def _wanted(
        self, cases: Sequence[Case], plans: Mapping[str, Mapping[Place, Records]]
    ) -> dict[str, tuple[int, Mapping[str, str]]]:
        return {
            topic: (len(plans[case.name]) // case.topics, case.config)
            for case in cases
            for topic in case.names
        }

    def _write(self, cases: Sequence[Case], plans: Mapping[str, Mapping[Place, Records]]) -> None:
        writer = Writer(self._bootstrap)
        for case in cases:
            plan, rng = plans[case.name], self._random(case, "keys")
            self._say(f"{case.name}: {sum(len(each.times) for each in plan.values()):,} records")
            for at, records in plan.items():
                own = [] if case.kept is None else keys(rng, len(records.times), case.kept)
                writer.write(case, at, records, own)
        writer.flush()
        for case in cases:
            plan = plans[case.name]
            if case.deleted:
                starts = {at: int(case.deleted * len(each.times)) for at, each in plan.items()}
                brokers.delete_records(self._admin, starts)
            if case.kept is not None:
                self._say(f"{case.name}: waiting for the log cleaner")
                self._wait_for_cleaner({at: len(each.times) for at, each in plan.items()})

    def _write_live(self, case: Case) -> list[Ints]:
        """When records were acknowledged; of transactions nothing, their own times are right."""
        soon = int(time.time() * 1000) + _LIVE_AFTER_MS
        (topic,) = case.names
        partitions = case.partitions(self._random(case, "records"), soon)
        if case.pace == "live":
            return write_live(self._bootstrap, topic, partitions)
        write_transactions(self._bootstrap, topic, partitions)
        return []

    def _wait_for_cleaner(self, written: Mapping[Place, int]) -> None:
        def left() -> dict[Place, int]:
            found = read_back(self._admin, self._bootstrap, list(written))
            return {at: len(each.offsets) for at, each in found.items()}

        def cleaned() -> bool:
            return all(count < _COMPACTED_TO * written[at] for at, count in left().items())

        wait_until(cleaned, what="every log compacted")
        brokers.steady_for(left, _UNCHANGED_SECONDS)

    def _commit(self, prepared: Sequence[Prepared]) -> None:
        wanted: dict[str, dict[Place, int]] = {}
        for each in prepared:
            for group, at, offset in each.rows():
                wanted.setdefault(group, {})[at] = offset
        self._say(f"committing for {len(wanted)} groups")
        brokers.commit_offsets(self._admin, wanted)


def _results(futures: Mapping[str, Future[list[Ints]]]) -> dict[str, list[Ints]]:
    return {name: future.result() for name, future in futures.items()}
