# SPDX-License-Identifier: Apache-2.0
"""Waits until a cluster can be used, by requests to its brokers instead of fixed pauses."""

import ctypes
import socket
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from dev.kafka.node import HOST, BrokerProcess, KafkaClusterError

# Far more than any step takes, even on a busy machine: only a step that hangs takes longer.
READY_WITHIN = 240.0
# Seconds, the most that librdkafka takes. It keeps a group request that timed out before it was
# sent, and aborts the whole process when a broker next comes or goes (its issue 4605). So no
# request may time out: the caller stops waiting instead.
NEVER_TIMES_OUT = 3_600.0
_PAUSE = 0.05


def end_with_the_process(client: object) -> None:
    """Keeps a client from ever being destroyed, because that waits for threads of dead brokers.

    librdkafka may do so for ever (its issue 4519), with Python's global lock held: no time limit of
    a test ends that.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(client))


def quiet_admin(config: Mapping[str, Any]) -> AdminClient:
    """Returns an admin client that does not print connection failures, which are expected here."""
    # Otherwise it goes on asking by the leader epochs it learned before a broker was restarted,
    # and gets FENCED_LEADER_EPOCH for many minutes.
    return AdminClient({"metadata.max.age.ms": 1_000, **config, "log_level": 0})


def wait_until(happened: Callable[[], bool], *, what: str, timeout: float = READY_WITHIN) -> None:
    """Polls until it has happened; raises after `timeout` seconds, naming `what` did not happen."""
    deadline = time.monotonic() + timeout
    while not happened():
        if time.monotonic() > deadline:
            raise KafkaClusterError(f"After {timeout:.0f} s {what} is not so")
        time.sleep(_PAUSE)


def wait_for_broker(process: BrokerProcess, *, brokers: int) -> None:
    """Waits until this broker answers and sees at least so many brokers alive."""
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
    """Returns the ids of the brokers in the metadata; empty if nobody answers in time."""
    try:
        return frozenset(admin.list_topics(timeout=timeout).brokers)
    except KafkaException:
        return frozenset()


def wait_for_topics(servers: str, topics: Collection[str]) -> None:
    """Waits until each broker (host:port,host:port) knows a leader of all partitions of the topics.

    A member that joins sooner gets no partition of a topic that its broker does not know yet.
    """
    for server in servers.split(","):
        wait_until(partial(_serves, server, topics), what=f"{server} knowing its topics")


def _serves(server: str, topics: Collection[str]) -> bool:
    # A client that knows other brokers asks any of them, a new one the broker it was given.
    admin = quiet_admin({"bootstrap.servers": server})
    try:
        known = admin.list_topics(timeout=2.0).topics
    except KafkaException:
        return False
    return all(
        name in known
        and known[name].partitions
        and all(partition.leader >= 0 for partition in known[name].partitions.values())
        for name in topics
    )


def wait_for_coordinators(admin: AdminClient, *, count: int) -> None:
    """Waits until every partition of `__consumer_offsets` serves its groups.

    Asking creates the topic.
    """
    # A group's partition is its name's Java hash modulo their number: for one letter its code.
    names = [chr(ord("a") + number) for number in range(min(26, count))]

    wait_until(lambda: groups_served(admin, names), what="every group coordinator serving")


def groups_served(admin: AdminClient, groups: Sequence[str], *, timeout: float = 2.0) -> bool:
    """Returns whether the coordinators of all these groups describe them within so many seconds."""
    futures = admin.describe_consumer_groups([*groups], request_timeout=NEVER_TIMES_OUT)
    answered, unanswered = wait(futures.values(), timeout)
    return not unanswered and all(future.exception() is None for future in answered)


def wait_for_logins(configs: list[dict[str, Any]]) -> None:
    """Waits until each of these clients, a user at one broker, has logged in."""
    with ThreadPoolExecutor(max_workers=len(configs)) as pool:
        list(pool.map(_wait_for_login, configs))


def _wait_for_login(config: Mapping[str, Any]) -> None:
    admin = quiet_admin(config)
    what = f"{config['sasl.username']} logged in at {config['bootstrap.servers']}"
    wait_until(lambda: bool(brokers_seen(admin)), what=what)
