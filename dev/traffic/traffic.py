# SPDX-License-Identifier: Apache-2.0
"""Behaviours at work on a cluster: started together, awaited one by one, stopped together."""

import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Protocol, Self

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from dev.kafka.readiness import wait_for_topics
from dev.traffic.behaviour import Behaviour, GroupView, view_group
from dev.traffic.catalog import chosen, possible
from dev.traffic.stage import Stage

STOPS_WITHIN = 3.0
READY_WITHIN = 240.0
_TOPICS_WITHIN = 120.0
_POLL = 0.25


class Cluster(Protocol):
    """What traffic needs of a cluster; `KafkaCluster` has it."""

    def admin(self) -> AdminClient:
        """Return a client that may do all."""

    def bootstrap(self, protocol: Any = ..., /) -> str:
        """Return host:port,host:port of a protocol's listeners."""


class Running:
    """One behaviour in its thread."""

    def __init__(self, behaviour: Behaviour, stage: Stage, admin: AdminClient) -> None:
        self.behaviour = behaviour
        self.error: BaseException | None = None
        self._stage = stage
        self._admin = admin
        # A daemon: with the brokers gone a consumer may take long to close, and nobody waits.
        name = f"traffic-{behaviour.name}"
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)

    def view(self) -> GroupView:
        """Ask the brokers how the group stands now."""
        topic = self.behaviour.topic
        return view_group(self._admin, self.behaviour.group, topic.name, topic.partitions)

    def wait_until_ready(self, timeout: float = READY_WITHIN) -> GroupView:
        """Wait until the behaviour's state holds at the brokers and return what they said then.

        Raises TimeoutError with the last view, or what ended the behaviour's thread.
        """
        deadline = time.monotonic() + timeout
        view: GroupView | None = None
        while time.monotonic() < deadline:
            if self.error is not None:
                raise RuntimeError(f"Traffic {self.behaviour.name} failed") from self.error
            with suppress(KafkaException, TimeoutError):
                view = self.view()
                if self.behaviour.holds(view):
                    return view
            time.sleep(_POLL)
        raise TimeoutError(f"After {timeout:.0f} s {self.behaviour.name} is not ready: {view}")

    def _run(self) -> None:
        try:
            self.behaviour.act(self._stage)
        except Exception as error:  # noqa: BLE001 - reported by Traffic.errors, whatever it is
            self.error = error
        finally:
            self._stage.close()


class Traffic:
    """A context manager that runs behaviours against a cluster, by name or of one's own.

    Without any, it runs all that brokers of this version can take part in.

    Topics and groups are left behind; a later Traffic on the same cluster goes on with them.
    Everything goes through the listener that needs no login.
    """

    def __init__(
        self, cluster: Cluster, behaviours: Iterable[str | Behaviour] | None = None
    ) -> None:
        self._admin = cluster.admin()
        self._servers = cluster.bootstrap("PLAINTEXT")
        self._config = {"bootstrap.servers": self._servers, "log_level": 0}
        self._chosen = chosen(possible() if behaviours is None else behaviours)
        self._stop = threading.Event()
        self._running: dict[str, Running] = {}

    def __enter__(self) -> Self:
        _create_topics(self._admin, self._chosen)
        topics = [behaviour.topic.name for behaviour in self._chosen]
        wait_for_topics(self._servers, topics)
        producer = Producer({**self._config, "linger.ms": 200, "message.timeout.ms": 60_000})
        for behaviour in self._chosen:
            running = Running(behaviour, self._stage(behaviour, producer), self._admin)
            self._running[behaviour.name] = running
            running.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        deadline = time.monotonic() + STOPS_WITHIN
        for running in self._running.values():
            running.thread.join(max(0.0, deadline - time.monotonic()))

    def __getitem__(self, name: str) -> Running:
        return self._running[name]

    @property
    def errors(self) -> Mapping[str, BaseException]:
        """What ended a behaviour's thread, by behaviour; empty while all goes well."""
        failed = {name: running.error for name, running in self._running.items()}
        return {name: error for name, error in failed.items() if error is not None}

    def wait_until_ready(self, timeout: float = READY_WITHIN) -> None:
        """Wait until each behaviour's state has held at some moment within `timeout` seconds."""
        deadline = time.monotonic() + timeout
        for running in self._running.values():
            running.wait_until_ready(max(_POLL, deadline - time.monotonic()))

    def _stage(self, behaviour: Behaviour, producer: Producer) -> Stage:
        return Stage(
            topic=behaviour.topic.name,
            partitions=behaviour.topic.partitions,
            group=behaviour.group,
            config=self._config,
            producer=producer,
            stop=self._stop,
        )


def _create_topics(admin: AdminClient, behaviours: Iterable[Behaviour]) -> None:
    topics = [behaviour.topic for behaviour in behaviours]
    futures = admin.create_topics(
        [NewTopic(each.name, each.partitions, config=dict(each.config)) for each in topics],
        request_timeout=_TOPICS_WITHIN,
    )
    for future in futures.values():
        try:
            future.result(_TOPICS_WITHIN)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
