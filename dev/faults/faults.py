# SPDX-License-Identifier: Apache-2.0
"""What goes wrong: each fault by name, what it does, and how it ends.

Each returns whether it happened: what came to nothing is no fault that runs went through.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from confluent_kafka import KafkaException
from confluent_kafka.admin import AclOperation, ResourceType

from dev.faults.elections import elect_preferred, reorder_replicas
from dev.faults.proxy import Proxies, Proxy
from dev.faults.subject import Secret, Store
from dev.faults.traffic import PREFIX, Traffic, chance
from dev.faults.truth import COORDINATORS, FRESH_AFTER_MS, Truth, now_ms
from dev.kafka import Credentials, KafkaCluster
from dev.kafka.access import acl, create_users
from dev.kafka.readiness import brokers_seen, groups_served, quiet_admin, wait_until

USER = "monitor"
_MOST_PARTITIONS = 6
_ANSWERS_WITHIN = 10.0
# Brokers are back within seconds; on a machine that is busy otherwise it may take minutes.
_SETTLES_WITHIN = 240.0


@dataclass(slots=True)
class Orders:
    """What the next runs shall be like."""

    cold: bool = False
    repeated: bool = False
    late: int = 0
    concurrent: bool = False
    skipped: int = 0
    clock_ahead_ms: int = 0
    # Runs that began with a wrong clock.
    clock_runs: int = 0


@dataclass(slots=True)
class Scene:
    """All that a fault can get hold of."""

    cluster: KafkaCluster
    proxies: Proxies
    traffic: Traffic
    truth: Truth
    store: Store
    secret: Secret
    rng: random.Random
    orders: Orders = field(default_factory=Orders)

    def broker(self) -> int:
        """Any broker."""
        return self.rng.choice(self.cluster.node_ids)

    def while_it_lasts(self, most: float = 4.0) -> None:
        """Let a fault last for some runs."""
        time.sleep(self.rng.uniform(1.0, most))

    def topic(self, pattern: str = "") -> str:
        """Any topic whose name holds the pattern."""
        return self.rng.choice([name for name in self.traffic.logs if pattern in name])

    def committer(self) -> str:
        """Any group without members."""
        return self.rng.choice([*self.traffic.committers])


Fault: TypeAlias = Callable[[Scene], bool]

# Faults on brokers.


def kill(scene: Scene) -> bool:
    """A power cut of one broker, and its return."""
    node = scene.broker()
    with _other_coordinators(scene), _troubled(scene, node):
        scene.cluster.kill(node)
        scene.truth.killed(now_ms())
        scene.while_it_lasts()
        scene.cluster.start(node)
    return True


def restart(scene: Scene) -> bool:
    """A broker restarts in good order."""
    node = scene.broker()
    with _other_coordinators(scene), _troubled(scene, node):
        scene.cluster.stop(node)
        scene.cluster.start(node)
    return True


def stop_and_continue(scene: Scene) -> bool:
    """A broker hangs; when it goes on it does not know at once that others took over."""
    node = scene.broker()
    groups, since = _coordinated_by(scene, node), now_ms()
    with _other_coordinators(scene), _troubled(scene, node):
        scene.cluster.pause(node)
        try:
            # Longer than a session, so that others take over, or shorter.
            time.sleep(scene.rng.choice([2.0, 3.0, 8.0]))
        finally:
            stale = scene.truth.stale(node, since, now_ms(), groups)
            scene.cluster.resume(node)
    scene.truth.fresh(stale, now_ms() + FRESH_AFTER_MS)
    return True


def _coordinated_by(scene: Scene, node: int) -> frozenset[str]:
    """Groups whose coordinator the broker is, and those of which nobody knows."""
    futures = scene.cluster.admin().describe_consumer_groups([*scene.traffic.groups])
    found = []
    for group, future in futures.items():
        try:
            coordinator = future.result(_ANSWERS_WITHIN).coordinator
        except (KafkaException, TimeoutError):
            coordinator = None
        if coordinator is None or coordinator.id == node:
            found.append(group)
    return frozenset(found)


def elections(scene: Scene) -> bool:
    """Leaders of the topics move, and back or not."""
    return _move(scene, lambda name: name.startswith(PREFIX))


def coordinator_moves(scene: Scene) -> bool:
    """Leaders of the partitions that hold commits move, and with them the coordinators."""
    with _other_coordinators(scene):
        return _move(scene, lambda name: name == "__consumer_offsets")


@contextmanager
def _other_coordinators(scene: Scene) -> Iterator[None]:
    """While coordinators change and settle, commits may be those of a moment before."""
    now = now_ms()
    stale = scene.truth.stale(COORDINATORS, now, now)
    try:
        yield
        settle(scene)
    finally:
        scene.truth.fresh(stale, now_ms() + FRESH_AFTER_MS)


@contextmanager
def _troubled(scene: Scene, *nodes: int) -> Iterator[None]:
    """These brokers are under a fault: only such a one is a reason for what is missing."""
    troubles = [scene.truth.troubled(node) for node in nodes]
    try:
        yield
    finally:
        for each in troubles:
            scene.truth.relieved(each)


def _move(scene: Scene, moved: Callable[[str], bool]) -> bool:
    orders: dict[str, dict[int, list[int]]] = {
        name: {number: _shuffled(scene, part.replicas) for number, part in topic.partitions.items()}
        for name, topic in _listed(scene).items()
        if moved(name)
    }
    with _troubled(scene, *scene.cluster.node_ids):
        before = _leaders(scene, moved)
        reorder_replicas(scene.cluster.broker_address(scene.broker(), "PLAINTEXT"), orders)
        time.sleep(0.3)
        elect_preferred(scene.cluster.broker_address(scene.broker(), "PLAINTEXT"), orders)
        # Brokers hear of new leaders a moment later.
        return _wait_until(lambda: _leaders(scene, moved) != before, 5.0)


def _listed(scene: Scene) -> Mapping[str, Any]:
    topics: Mapping[str, Any] = scene.cluster.admin().list_topics(timeout=10).topics
    return topics


def _leaders(scene: Scene, moved: Callable[[str], bool]) -> dict[tuple[str, int], int]:
    return {
        (name, number): part.leader
        for name, topic in _listed(scene).items()
        if moved(name)
        for number, part in topic.partitions.items()
    }


def _shuffled(scene: Scene, replicas: list[int]) -> list[int]:
    return scene.rng.sample([*replicas], len(replicas))


# Faults on the way to the brokers.


def stall(scene: Scene) -> bool:
    """Nothing gets through to one broker, and connections stay open."""
    with _proxies(scene, 1) as (proxy,):
        proxy.stalled = True
        scene.while_it_lasts()
    return True


def stall_most(scene: Scene) -> bool:
    """Nothing gets through to two brokers of three."""
    with _proxies(scene, 2) as proxies:
        for proxy in proxies:
            proxy.stalled = True
        scene.while_it_lasts()
    return True


def cut(scene: Scene) -> bool:
    """Connections end, again and again."""
    ends = time.monotonic() + scene.rng.uniform(0.5, 3.0)
    with _troubled(scene, *scene.cluster.node_ids):
        before = sum(scene.proxies[node].cuts for node in scene.cluster.node_ids)
        while time.monotonic() < ends:
            scene.proxies.cut(scene.broker())
            time.sleep(scene.rng.uniform(0.02, 0.3))
        return sum(scene.proxies[node].cuts for node in scene.cluster.node_ids) > before


def refuse(scene: Scene) -> bool:
    """One broker's listener takes no connection."""
    node = scene.broker()
    with _troubled(scene, node):
        scene.proxies[node].refusing = True
        scene.proxies.cut(node)
        scene.while_it_lasts()
        scene.proxies[node].refusing = False
    return True


def damage(scene: Scene) -> bool:
    """Single bytes of answers are damaged."""
    pieces = 6
    with _proxies(scene, 2) as proxies:
        for _ in range(pieces):
            for proxy in proxies:
                proxy.damage += 1
            time.sleep(scene.rng.uniform(0.1, 0.6))
        return any(proxy.damage < pieces for proxy in proxies)


def slow(scene: Scene) -> bool:
    """One broker answers late."""
    with _proxies(scene, 1) as (proxy,):
        proxy.delay = scene.rng.choice([0.05, 0.3, 0.9])
        scene.while_it_lasts()
    return True


@contextmanager
def _proxies(scene: Scene, count: int) -> Iterator[list[Proxy]]:
    chosen = scene.rng.sample(scene.cluster.node_ids, count)
    with _troubled(scene, *chosen):
        try:
            yield [scene.proxies[node] for node in chosen]
        finally:
            for node in chosen:
                proxy = scene.proxies[node]
                proxy.stalled, proxy.delay, proxy.damage = False, 0.0, 0


# Faults of topics and groups.


def recreate_topic(scene: Scene) -> bool:
    """A topic is deleted, and another of that name is made at once or later."""
    name = scene.topic("churn")
    partitions = len(scene.traffic.logs[name].topic.logs)
    pace = scene.traffic.delete(name)
    if chance(scene.rng, 0.5):
        scene.while_it_lasts(3.0)
    scene.traffic.create(name, scene.rng.choice([partitions, 2, 3]), pace)
    return True


def extend_topic(scene: Scene) -> bool:
    """A topic gets one more partition."""
    name = scene.topic("churn")
    log = scene.traffic.logs[name]
    if len(log.topic.logs) >= _MOST_PARTITIONS:
        return False
    scene.traffic.extend(name)
    time.sleep(3.0)
    log.writable = len(log.topic.logs)
    return True


def purge(scene: Scene) -> bool:
    """Retention takes almost all records of some partitions, read or not."""
    happened = False
    for _ in range(3):
        name = scene.topic()
        count = len(scene.traffic.logs[name].topic.logs)
        left = scene.rng.choice([0, 3, 30])
        with suppress(KafkaException):
            happened |= scene.traffic.purge(name, scene.rng.randrange(count), left)
    return happened


def delete_group(scene: Scene) -> bool:
    """A group is deleted and commits again soon."""
    with suppress(KafkaException):
        scene.traffic.delete_group(scene.committer())
        return True
    return False


def reset_group(scene: Scene) -> bool:
    """A group's commits go back."""
    committer = scene.traffic.committers[scene.committer()]
    committer.rewind()
    scene.while_it_lasts(2.0)
    return not committer.rewinding


# Faults of access.


def deny_group(scene: Scene) -> bool:
    """One group may not be described."""
    return _denied(scene, ResourceType.GROUP, scene.committer(), AclOperation.DESCRIBE)


def deny_topic(scene: Scene) -> bool:
    """One topic may not be described."""
    return _denied(scene, ResourceType.TOPIC, scene.topic(), AclOperation.DESCRIBE)


def deny_settings(scene: Scene) -> bool:
    """One topic's settings may not be described."""
    return _denied(scene, ResourceType.TOPIC, scene.topic(), AclOperation.DESCRIBE_CONFIGS)


def _denied(scene: Scene, kind: ResourceType, name: str, operation: AclOperation) -> bool:
    binding = acl(USER, kind, name, operation, allow=False)
    scene.cluster.add_acl(binding)
    try:
        scene.while_it_lasts()
    finally:
        scene.cluster.remove_acl(binding)
    return True


def rotate_password(scene: Scene) -> bool:
    """The password changes, at the brokers first or in the secret, and connections end."""
    password = secrets.token_urlsafe(24)

    def at_brokers() -> None:
        create_users(scene.cluster.admin(), {USER: Credentials(USER, password)})

    steps: list[Callable[[], None]] = [at_brokers, lambda: scene.secret.rotate(password)]
    scene.rng.shuffle(steps)
    with _troubled(scene, *scene.cluster.node_ids):
        for step in steps:
            step()
            for node in scene.cluster.node_ids:
                if chance(scene.rng, 0.7):
                    scene.proxies.cut(node)
            time.sleep(scene.rng.uniform(0.5, 2.0))
    return True


# Faults of the store and of the process.


def store_fails(scene: Scene) -> bool:
    """The store answers with errors."""
    before = scene.store.failures
    scene.store.failing = True
    scene.while_it_lasts()
    scene.store.failing = False
    return scene.store.failures > before


def store_hangs(scene: Scene) -> bool:
    """The store answers late, with an error or without."""
    before = scene.store.failures
    scene.store.hangs, scene.store.failing = 0.25, chance(scene.rng, 0.5)
    scene.while_it_lasts()
    scene.store.hangs, scene.store.failing = 0.0, False
    return scene.store.failures > before


def killed(scene: Scene) -> bool:
    """The process ends between two writes of a snapshot, and another one starts."""
    scene.store.dies_after = scene.rng.choice([1, 2])
    happened = _wait_until(lambda: scene.store.dies_after is None)
    scene.store.dies_after = None
    return happened


def cold(scene: Scene) -> bool:
    """The process is replaced."""
    scene.orders.cold = True
    return _wait_until(lambda: not scene.orders.cold)


def repeated(scene: Scene) -> bool:
    """A run is started twice for the same time."""
    scene.orders.repeated = True
    return _wait_until(lambda: not scene.orders.repeated)


def late(scene: Scene) -> bool:
    """A run is started late, after others of later times."""
    scene.orders.late = scene.rng.randrange(2, 6)
    return _wait_until(lambda: not scene.orders.late)


def concurrent(scene: Scene) -> bool:
    """Two processes run for the same time at once."""
    scene.orders.concurrent = True
    return _wait_until(lambda: not scene.orders.concurrent)


def skipped(scene: Scene) -> bool:
    """Some runs never start."""
    scene.orders.skipped = scene.rng.randrange(2, 5)
    return _wait_until(lambda: not scene.orders.skipped)


def clock_jumps(scene: Scene) -> bool:
    """The collector's clock is wrong for some runs."""
    begun = scene.orders.clock_runs
    scene.orders.clock_ahead_ms = scene.rng.choice([-120_000, -5_000, -700, 700, 5_000, 120_000])
    scene.while_it_lasts()
    scene.orders.clock_ahead_ms = 0
    return scene.orders.clock_runs > begun


def _wait_until(holds: Callable[[], bool], seconds: float = 15.0) -> bool:
    """Whether it held within so many seconds."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if holds():
            return True
        time.sleep(0.05)
    return False


# Of one lane at most one fault is there at a time; `topics` and `groups` need brokers that answer.
LANES: Mapping[str, tuple[Fault, ...]] = {
    "brokers": (kill, restart, stop_and_continue, elections, coordinator_moves),
    "network": (stall, stall_most, cut, refuse, damage, slow),
    "topics": (recreate_topic, extend_topic, purge, purge),
    "groups": (delete_group, reset_group),
    "access": (deny_group, deny_topic, deny_settings, rotate_password),
    "store": (store_fails, store_hangs, killed),
    "runs": (cold, repeated, late, concurrent, skipped, clock_jumps),
}
_NEED_BROKERS = ("topics", "groups", "access")


def choose(rng: random.Random, only: Collection[str] = (), most: int = 4) -> list[Fault]:
    """Some faults that may be there together; with `only` one of these at a time."""
    if only:
        wanted = [each for lane in LANES.values() for each in lane if each.__name__ in only]
        return [rng.choice(wanted)]
    lanes = rng.sample([*LANES], rng.randint(2, most))
    if "brokers" in lanes:
        lanes = [lane for lane in lanes if lane not in _NEED_BROKERS]
    return [rng.choice(LANES[lane]) for lane in lanes]


def settle(scene: Scene) -> None:
    """Wait until every broker is back, knows the leaders, and coordinators serve all groups."""
    cluster, admin = scene.cluster, scene.cluster.admin()
    own = [
        quiet_admin({"bootstrap.servers": cluster.broker_address(node, "PLAINTEXT")})
        for node in cluster.node_ids
    ]
    count = len(cluster.node_ids)
    wait_until(
        lambda: len(brokers_seen(admin)) == count, what="all brokers seen", timeout=_SETTLES_WITHIN
    )
    wait_until(lambda: _agree(own), what="brokers agree on leaders", timeout=_SETTLES_WITHIN)
    wait_until(
        lambda: groups_served(admin, scene.traffic.groups),
        what="coordinators",
        timeout=_SETTLES_WITHIN,
    )


def _agree(admins: list[Any]) -> bool:
    """Whether all brokers name the same leaders, and each partition has all replicas in sync."""
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
