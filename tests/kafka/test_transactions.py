# SPDX-License-Identifier: Apache-2.0
"""A topic of 500 partitions that a real producer writes in transactions, and its readers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from confluent_kafka import Producer

from dev.kafka import KafkaCluster
from dev.kafka.readiness import wait_until
from dev.kafka.records import listed
from kafka_lag.contract import METHOD_MARKER, OK, OPEN_TRANSACTION, STOP
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import LagReport
from tests.dev.cluster_fixture import STEADY
from tests.kafka.looking import (
    ANSWERED_WITHIN,
    Looker,
    commit,
    create,
    group,
    looker,
    only,
    partitions,
    tool_says,
)

# Rests are as long as the test makes them, in seconds of the clock.
pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

PARTITIONS = 500
INTERVAL_MS, WINDOW_MS = 400, 2_400
A_REST = 4 * INTERVAL_MS / 1_000


@dataclass(slots=True)
class Ledger:
    """Transactions of one record a partition, and a group that commits after each record."""

    cluster: KafkaCluster
    producer: Producer
    end: int = 0

    def begin(self) -> None:
        """A transaction of which every record is on the brokers, and that is open."""
        self.producer.begin_transaction()
        for number in range(PARTITIONS):
            self.producer.produce("ledger", b"record", partition=number)
        assert self.producer.flush(ANSWERED_WITHIN) == 0

    def finish(self) -> None:
        """Its end: a marker in each partition, some written after the coordinator's answer."""
        self.producer.commit_transaction(ANSWERED_WITHIN)
        self.end += 2
        places = [("ledger", number) for number in range(PARTITIONS)]
        admin, ends = self.cluster.admin(), {self.end}
        wait_until(
            lambda: set(listed(admin, places, earliest=False).values()) == ends, what="all markers"
        )

    def read(self) -> None:
        """The group commits the offset after the last record, which is that of its marker."""
        commit(self.cluster, "ledgers", "ledger", [self.end - 1] * PARTITIONS)

    def write_and_read(self) -> None:
        """A whole transaction."""
        self.begin()
        self.finish()
        self.read()


@pytest.fixture(name="ledger", scope="module")
def _ledger() -> Iterator[Ledger]:
    with KafkaCluster(brokers=1, settings=STEADY) as cluster:
        create(cluster, "ledger", PARTITIONS)
        options = {"bootstrap.servers": cluster.bootstrap("PLAINTEXT"), "log_level": 0}
        producer = Producer({**options, "transactional.id": "ledger"})
        producer.init_transactions(ANSWERED_WITHIN)
        yield Ledger(cluster, producer)


def counted(report: LagReport, name: str) -> Counter[object]:
    return Counter(row[name] for row in partitions(report, "ledgers").values())


def rest(reports: Looker, seconds: float) -> list[LagReport]:
    """Looks, one after another, for so long."""
    until = time.monotonic() + seconds
    found = [reports.look()]
    while time.monotonic() < until:
        time.sleep(INTERVAL_MS / 1_000)
        found.append(reports.look())
    return found


def test_500_partitions_written_in_transactions_are_told_right(ledger: Ledger) -> None:
    rules = replace(only("^ledger"), interval_ms=INTERVAL_MS, window_ms=WINDOW_MS)
    assert isinstance(rules, Rules)
    with looker(ledger.cluster, rules) as reports:
        ledger.write_and_read()
        reports.look()
        ledger.begin()
        reports.look()
        ledger.finish()
        ledger.read()
        for _ in range(3):
            rest(reports, A_REST)
            ledger.write_and_read()

        # It rests for longer than the window, one below the end.
        rests = rest(reports, 2 * WINDOW_MS / 1_000)
        assert [counted(report, "status") for report in rests] == [{OK: PARTITIONS}] * len(rests)
        assert counted(rests[-1], "time_lag_method") == {METHOD_MARKER: PARTITIONS}
        assert counted(rests[-1], "lag") == {1: PARTITIONS}
        assert set(counted(rests[-1], "time_lag_seconds")) == {0.0}
        told = {key[1:]: row["lag"] for key, row in tool_says(ledger.cluster).items()}
        assert told == dict.fromkeys(partitions(rests[-1], "ledgers"), 1)

        # A transaction begins, and is named by the second look that sees it.
        earliest = time.time() * 1_000
        ledger.begin()
        first = reports.look()
        latest = time.time() * 1_000
        second = reports.look()
        found = group(second, "ledgers")
        assert group(first, "ledgers")["status_reason"] is None
        assert (found["status"], found["status_reason"]) == (OK, OPEN_TRANSACTION)
        assert found["held_up_records"] == PARTITIONS
        assert earliest - 1_000 <= found["open_transaction_since"] <= latest
        assert counted(second, "status_reason") == {OPEN_TRANSACTION: PARTITIONS}

        # Open for longer than the window, it makes nobody late; then it ends and is read.
        held = rest(reports, 2 * WINDOW_MS / 1_000)
        assert [counted(report, "status") for report in held] == [{OK: PARTITIONS}] * len(held)
        ledger.finish()
        ledger.read()
        assert counted(reports.look(), "status") == {OK: PARTITIONS}

        # Nobody reads the next one.
        rest(reports, A_REST)
        ledger.begin()
        ledger.finish()
        stuck = reports.look_until(lambda report: counted(report, "status")[OK] == 0)
        assert counted(stuck, "status") == {STOP: PARTITIONS}
        assert counted(stuck, "lag") == {3: PARTITIONS}
