# SPDX-License-Identifier: Apache-2.0
"""The faults by name: each one makes a fault happen and ends it.

Each function returns whether its fault happened, because a fault without effect does not count.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from confluent_kafka import KafkaException
from confluent_kafka.admin import AclOperation, ResourceType

from dev.faults.elections import elect_first
from dev.faults.proxy import Proxies, Proxy
from dev.faults.subject import Secret, Store
from dev.faults.traffic import PREFIX, Traffic
from dev.kafka import Credentials, KafkaCluster
from dev.kafka.access import acl, create_users
from dev.kafka.readiness import brokers_seen, groups_served, quiet_admin, wait_until

USER = "monitor"


@dataclass(slots=True)
class Orders:
    """Orders for the next runs."""

    cold: bool = False
    late: int = 0
    concurrent: bool = False
    skipped: int = 0
    clock_ahead_ms: int = 0
    # Runs that began with a wrong clock.
    clock_runs: int = 0


@dataclass(slots=True)
class Scene:
    """The objects that a fault may use."""

    cluster: KafkaCluster
    proxies: Proxies
    traffic: Traffic
    store: Store
    secret: Secret
    rng: random.Random
    encrypted: bool
    orders: Orders = field(default_factory=Orders)

    def broker(self) -> int:
        """Returns any broker."""
        return self.rng.choice(self.cluster.node_ids)

    def while_it_lasts(self, most: float = 4.0) -> None:
        """Waits while a fault lasts, for some runs."""
        time.sleep(self.rng.uniform(1.0, most))

    def topic(self) -> str:
        """Returns any topic."""
        return self.rng.choice(sorted(self.traffic.topics))

    def committer(self) -> str:
        """Returns any group without members."""
        return self.rng.choice(self.traffic.committers)


Fault: TypeAlias = Callable[[Scene], bool]

# Faults on brokers.


def kill(scene: Scene) -> bool:
    """Kills one broker as a power cut does, and starts it again."""
    node = scene.broker()
    scene.cluster.kill(node)
    scene.while_it_lasts()
    scene.cluster.start(node)
    return True


def stop_and_continue(scene: Scene) -> bool:
    """Pauses a broker and lets it go on.

    At first it does not know that other brokers took over.
    """
    node = scene.broker()
    scene.cluster.pause(node)
    # Longer than a session, so that others take over, or shorter.
    time.sleep(scene.rng.choice([2.0, 3.0, 8.0]))
    scene.cluster.resume(node)
    return True


def elections(scene: Scene) -> bool:
    """Moves leaders of the topics to other replicas."""
    return _move(scene, lambda name: name.startswith(PREFIX))


def coordinator_moves(scene: Scene) -> bool:
    """Moves leaders of the partitions that hold commits, and with them the coordinators."""
    return _move(scene, lambda name: name == "__consumer_offsets")


def _move(scene: Scene, moved: Callable[[str], bool]) -> bool:
    orders: dict[str, dict[int, list[int]]] = {
        name: {
            number: scene.rng.sample([*part.replicas], len(part.replicas))
            for number, part in topic.partitions.items()
        }
        for name, topic in scene.cluster.admin().list_topics(timeout=10).topics.items()
        if moved(name)
    }
    before = _leaders(scene, moved)
    elect_first(scene.cluster.broker_address(scene.broker(), "PLAINTEXT"), orders)
    # Brokers hear of new leaders a moment later.
    return _happens(lambda: _leaders(scene, moved) != before, 5.0)


def _leaders(scene: Scene, moved: Callable[[str], bool]) -> dict[tuple[str, int], int]:
    return {
        (name, number): part.leader
        for name, topic in scene.cluster.admin().list_topics(timeout=10).topics.items()
        if moved(name)
        for number, part in topic.partitions.items()
    }


# Faults on the way to the brokers.


def stall(scene: Scene) -> bool:
    """Holds up all bytes to one broker or to two; connections stay open."""
    with _proxies(scene, scene.rng.choice((1, 2))) as proxies:
        for proxy in proxies:
            proxy.stalled = True
        scene.while_it_lasts()
    return True


def cut(scene: Scene) -> bool:
    """Connections end, again and again."""
    ends = time.monotonic() + scene.rng.uniform(0.5, 3.0)
    before = sum(scene.proxies[node].cuts for node in scene.cluster.node_ids)
    while time.monotonic() < ends:
        scene.proxies.cut(scene.broker())
        time.sleep(scene.rng.uniform(0.02, 0.3))
    return sum(scene.proxies[node].cuts for node in scene.cluster.node_ids) > before


def damage(scene: Scene) -> bool:
    """Damages single bytes of answers; a client would not notice without TLS."""
    pieces = 6
    if not scene.encrypted:
        return False
    with _proxies(scene, 2) as proxies:
        for _ in range(pieces):
            for proxy in proxies:
                proxy.damage += 1
            time.sleep(scene.rng.uniform(0.1, 0.6))
        return any(proxy.damage < pieces for proxy in proxies)


@contextmanager
def _proxies(scene: Scene, count: int) -> Iterator[list[Proxy]]:
    chosen = [scene.proxies[node] for node in scene.rng.sample(scene.cluster.node_ids, count)]
    try:
        yield chosen
    finally:
        for proxy in chosen:
            proxy.stalled, proxy.damage = False, 0


# Faults of topics and groups.


def recreate_topic(scene: Scene) -> bool:
    """Deletes a topic and creates it again under its name, at once or later."""
    scene.traffic.recreate(scene.rng.choice([0.0, 3.0]))
    return True


def extend_topic(scene: Scene) -> bool:
    """Adds one partition to a topic."""
    return scene.traffic.extend()


def purge(scene: Scene) -> bool:
    """Deletes almost all records of some partitions, read or unread, as retention does."""
    happened = False
    for _ in range(3):
        with suppress(KafkaException):
            happened |= scene.traffic.purge(scene.topic(), scene.rng.choice([0, 3, 30]))
    return happened


def delete_group(scene: Scene) -> bool:
    """Deletes a group, which soon commits again."""
    with suppress(KafkaException):
        scene.traffic.delete_group()
        return True
    return False


def reset_group(scene: Scene) -> bool:
    """Sets a group's commits back."""
    scene.traffic.rewind()
    return True


# Faults of access.


def deny(scene: Scene) -> bool:
    """Denies the right to describe one group, one topic or its settings."""
    kind, name, operation = scene.rng.choice(
        (
            (ResourceType.GROUP, scene.committer(), AclOperation.DESCRIBE),
            (ResourceType.TOPIC, scene.topic(), AclOperation.DESCRIBE),
            (ResourceType.TOPIC, scene.topic(), AclOperation.DESCRIBE_CONFIGS),
        )
    )
    binding = acl(USER, kind, name, operation, allow=False)
    scene.cluster.add_acl(binding)
    try:
        scene.while_it_lasts()
    finally:
        scene.cluster.remove_acl(binding)
    return True


def rotate_password(scene: Scene) -> bool:
    """Changes the password, at the brokers or in the secret first, and ends connections."""
    password = secrets.token_urlsafe(24)

    def at_brokers() -> None:
        create_users(scene.cluster.admin(), {USER: Credentials(USER, password)})

    steps: list[Callable[[], None]] = [at_brokers, lambda: scene.secret.rotate(password)]
    scene.rng.shuffle(steps)
    for step in steps:
        step()
        for node in scene.cluster.node_ids:
            if scene.rng.choice((True, True, False)):
                scene.proxies.cut(node)
        time.sleep(scene.rng.uniform(0.5, 2.0))
    return True


# Faults of the store and of the process.


def store_fails(scene: Scene) -> bool:
    """Makes the store answer with errors, late, or both."""
    before = scene.store.failures
    failures = ((0.0, True), (0.25, True), (0.25, False))
    scene.store.hangs, scene.store.failing = scene.rng.choice(failures)
    scene.while_it_lasts()
    scene.store.hangs, scene.store.failing = 0.0, False
    return scene.store.failures > before


def killed(scene: Scene) -> bool:
    """Ends the process between two writes of a snapshot, and starts another one."""
    scene.store.dies_after = scene.rng.choice([1, 2])
    happened = _happens(lambda: scene.store.dies_after is None)
    scene.store.dies_after = None
    return happened


def _order(name: str, draw: Callable[[random.Random], int]) -> Fault:
    """Returns a fault that is an order for the next run."""

    def fault(scene: Scene) -> bool:
        setattr(scene.orders, name, draw(scene.rng))
        return _happens(lambda: not getattr(scene.orders, name))

    fault.__name__ = name
    return fault


# Another process; a late run after later ones; two processes at one time; runs that are left out.
cold = _order("cold", lambda _: True)
late = _order("late", lambda rng: rng.randrange(2, 6))
concurrent = _order("concurrent", lambda _: True)
skipped = _order("skipped", lambda rng: rng.randrange(2, 5))


def clock_jumps(scene: Scene) -> bool:
    """Sets the collector's clock wrong for some runs."""
    begun = scene.orders.clock_runs
    scene.orders.clock_ahead_ms = scene.rng.choice([-120_000, -5_000, -700, 700, 5_000, 120_000])
    scene.while_it_lasts()
    scene.orders.clock_ahead_ms = 0
    return scene.orders.clock_runs > begun


def _happens(holds: Callable[[], bool], seconds: float = 15.0) -> bool:
    """Returns True as soon as `holds` does; False if it does not within `seconds`."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if holds():
            return True
        time.sleep(0.05)
    return False


# A lane has at most one fault at a time. Faults of `topics` and `groups` need brokers that answer.
LANES: Mapping[str, tuple[Fault, ...]] = {
    "brokers": (kill, stop_and_continue, elections, coordinator_moves),
    "network": (stall, cut, damage),
    "topics": (recreate_topic, extend_topic, purge, purge),
    "groups": (delete_group, reset_group),
    "access": (deny, rotate_password),
    "store": (store_fails, killed),
    "runs": (cold, late, concurrent, skipped, clock_jumps),
}
_NEED_BROKERS = ("topics", "groups", "access")


def choose(rng: random.Random, only: Collection[str] = (), most: int = 4) -> list[Fault]:
    """Returns some faults that may happen together; with `only` just one of these."""
    if only:
        wanted = [each for lane in LANES.values() for each in lane if each.__name__ in only]
        return [rng.choice(wanted)]
    lanes = rng.sample([*LANES], rng.randint(2, most))
    if "brokers" in lanes:
        lanes = [lane for lane in lanes if lane not in _NEED_BROKERS]
    return [rng.choice(LANES[lane]) for lane in lanes]


def settle(scene: Scene) -> None:
    """Waits until every broker is back, knows the leaders, and coordinators serve all groups."""
    cluster, admin = scene.cluster, scene.cluster.admin()
    addresses = [cluster.broker_address(node, "PLAINTEXT") for node in cluster.node_ids]
    own = [quiet_admin({"bootstrap.servers": address}) for address in addresses]
    for what, holds in (
        ("all brokers seen", lambda: len(brokers_seen(admin)) == len(own)),
        ("brokers agree on leaders", lambda: _agree(own)),
        ("coordinators", partial(groups_served, admin, scene.traffic.groups)),
    ):
        wait_until(holds, what=what)


def _agree(admins: list[Any]) -> bool:
    """Returns True if all brokers name the same leaders and all replicas are in sync."""
    answers = []
    for admin in admins:
        try:
            topics = admin.list_topics(timeout=2).topics
        except KafkaException:
            return False
        answers.append(
            {
                (name, number): (part.leader, sorted(part.isrs) == sorted(part.replicas))
                for name, topic in topics.items()
                for number, part in topic.partitions.items()
            }
        )
    healthy = all(leader > 0 and whole for leader, whole in answers[0].values())
    return healthy and all(each == answers[0] for each in answers)
