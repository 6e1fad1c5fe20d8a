# SPDX-License-Identifier: Apache-2.0
"""Cases brought onto the brokers, all together: records written, deleted, compacted, committed."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from confluent_kafka.admin import AdminClient

from dev.kafka import KafkaCluster
from dev.kafka.readiness import wait_until
from dev.time_lag_bench.brokers import topics
from dev.time_lag_bench.brokers.grown import logs_of
from dev.time_lag_bench.brokers.prepared import Prepared, prepared_of
from dev.time_lag_bench.brokers.reading import Place, read_back
from dev.time_lag_bench.brokers.writing import Writer, keys, write_live, write_transactions
from dev.time_lag_bench.cases.case import Case, Random, Records
from dev.time_lag_bench.logs import Ints

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
        topics.create(self._admin, self._wanted(cases, plans))
        with ThreadPoolExecutor() as pool:
            live = {
                case.name: pool.submit(self._write_live, case)
                for case in cases
                if case.pace != "told"
            }
            self._write([case for case in cases if case.pace == "told"], plans)
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
                told = [] if case.kept is None else keys(rng, len(records.times), case.kept)
                writer.write(case, at, records, told)
        writer.flush()
        for case in cases:
            plan = plans[case.name]
            if case.deleted:
                starts = {at: int(case.deleted * len(each.times)) for at, each in plan.items()}
                topics.delete_before(self._admin, starts)
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
        topics.steady_for(left, _UNCHANGED_SECONDS)

    def _commit(self, prepared: Sequence[Prepared]) -> None:
        wanted: dict[str, dict[Place, int]] = {}
        for each in prepared:
            for group, at, offset in each.rows():
                wanted.setdefault(group, {})[at] = offset
        self._say(f"committing for {len(wanted)} groups")
        topics.commit(self._admin, wanted)


def _results(futures: Mapping[str, Future[list[Ints]]]) -> dict[str, list[Ints]]:
    return {name: future.result() for name, future in futures.items()}
