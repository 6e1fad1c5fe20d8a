# SPDX-License-Identifier: Apache-2.0
"""When a cluster can be used: asked of the brokers themselves, never guessed by sleeping."""

import socket
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from local.kafka.errors import KafkaClusterError
from local.kafka.node.process import BrokerProcess
from local.kafka.node.settings import HOST

READY_WITHIN = 60.0
_PAUSE = 0.05


def quiet_admin(config: Mapping[str, Any]) -> AdminClient:
    """Make a client that keeps connection failures, expected here, off the terminal."""
    # Otherwise it goes on asking by the leader epochs it learned before a broker was restarted,
    # and gets FENCED_LEADER_EPOCH for many minutes.
    return AdminClient({"metadata.max.age.ms": 1_000, **config, "log_level": 0})


def wait_until(happened: Callable[[], bool], *, what: str, timeout: float = READY_WITHIN) -> None:
    """Poll until it has happened; after `timeout` seconds raise, naming `what` did not."""
    deadline = time.monotonic() + timeout
    while not happened():
        if time.monotonic() > deadline:
            raise KafkaClusterError(f"After {timeout:.0f} s {what} is not so")
        time.sleep(_PAUSE)


def wait_for_broker(process: BrokerProcess, *, brokers: int) -> None:
    """Wait until this very broker answers and sees at least so many brokers alive."""
    address = process.node.address("PLAINTEXT")

    def listens() -> bool:
        process.raise_if_dead()
        with socket.socket() as probe:
            probe.settimeout(1)
            return probe.connect_ex((HOST, process.node.ports["PLAINTEXT"])) == 0

    wait_until(listens, what=f"node {process.node.id} listening")
    admin = quiet_admin({"bootstrap.servers": address})

    def sees_the_others() -> bool:
        process.raise_if_dead()
        seen = brokers_seen(admin)
        return len(seen) >= brokers and process.node.id in seen

    wait_until(sees_the_others, what=f"node {process.node.id} seeing {brokers} brokers")


def brokers_seen(admin: AdminClient, *, timeout: float = 2.0) -> frozenset[int]:
    """Return the ids of the brokers in the metadata; empty when nobody answers in time."""
    try:
        return frozenset(admin.list_topics(timeout=timeout).brokers)
    except KafkaException:
        return frozenset()


def wait_for_coordinators(admin: AdminClient, *, count: int) -> None:
    """Wait until every partition of `__consumer_offsets` (made by asking) serves its groups."""
    # A group's partition is its name's Java hash modulo their number: for one letter its code.
    names = [chr(ord("a") + number) for number in range(min(26, count))]

    def served() -> bool:
        futures = admin.describe_consumer_groups(names, request_timeout=5)
        return all(future.exception() is None for future in futures.values())

    wait_until(served, what="every group coordinator serving")


def wait_for_logins(configs: list[dict[str, Any]]) -> None:
    """Wait until each of these clients, a user at one broker, has logged in."""
    with ThreadPoolExecutor(max_workers=len(configs)) as pool:
        list(pool.map(_wait_for_login, configs))


def _wait_for_login(config: Mapping[str, Any]) -> None:
    admin = quiet_admin(config)
    what = f"{config['sasl.username']} logged in at {config['bootstrap.servers']}"
    wait_until(lambda: bool(brokers_seen(admin)), what=what)
