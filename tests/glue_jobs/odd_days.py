# SPDX-License-Identifier: Apache-2.0
"""Days that no collector would see, with few different values, so that ties and nulls abound."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from tests.glue_jobs.days import Row, write_run

GROUPS, TOPICS, PARTITIONS = 4, 5, 6
NOON = 43_200
_WORDS = {
    "group_state": ["Stable", "PreparingRebalance", "Reconciling"],
    "status": ["OK", "WARN", "ERR"],
    "retention_risk": ["SAFE", "AT_RISK", "LOST"],
}


def write_odd_day(root: Path, folder: str, midnight: datetime, *, seed: int, runs: int) -> None:
    """So many runs, at uneven times and more of them in the morning, with all three datasets."""
    random = Random(seed)  # noqa: S311 - the same day in every test run
    times = sorted({int(86_400 * random.random() ** 2) for _ in range(runs)})
    highest = dict[tuple[Any, ...], int]()
    made = {
        "topic_partitions": _topic_rows,
        "group_partitions": _group_partition_rows,
        "groups": _group_rows,
    }
    for seconds in times:
        at = midnight + timedelta(seconds=seconds)
        for dataset, rows in made.items():
            # now and then a run has lost one of its objects
            if random.random() < 0.95:
                kept = [row for row in rows(random, seconds) if random.random() < 0.95]
                if dataset == "group_partitions":
                    _mark_rewinds(kept, highest)
                write_run(root, dataset, kept, at=at, folder=folder)


def _mark_rewinds(rows: list[Row], highest: dict[tuple[Any, ...], int]) -> None:
    """`rewound_from` as the collector says it: the highest commit before one that is lower."""
    for row in rows:
        commit = row["committed_offset"]
        if row["unread_reason"] or commit is None:
            continue
        log = tuple(row[name] for name in ("consumer_group", "topic", "topic_id", "partition_id"))
        top = highest[log] = max(commit, highest.get(log, 0))
        row["rewound_from"] = top if commit < top else None


def _maybe(random: Random, value: Any, chance: float = 0.1) -> Any:
    return None if random.random() < chance else value


def _unread(random: Random) -> str | None:
    return "timeout" if random.random() < 0.04 else None


def _log(topic: int, seconds: int) -> Row:
    """A topic that is made anew at noon has another id; one whose id was never read has none."""
    names = {1: "old" if seconds < 43_200 else "new", 2: None}
    return {"topic": f"t{topic}", "topic_id": names.get(topic, f"id-{topic}")}


def _offset(partition: int, seconds: int, rate: float) -> int:
    """Rises by records that are not the same for every partition, from 0 again at noon."""
    return int(seconds % 43_200 * rate * (3 if partition == 0 else 1) / 10)


def _place(random: Random, topic: int, partition: int) -> Row:
    """Its leader moves now and then."""
    moved = random.random() < 0.1
    return {"partition_id": partition, "leader": _maybe(random, (partition + topic + moved) % 3)}


def _topic_rows(random: Random, seconds: int) -> Iterator[Row]:
    for topic in range(TOPICS):
        for partition in range(PARTITIONS):
            place = _place(random, topic, partition)
            leader = place["leader"]
            rack = None if leader is None else f"az{leader if seconds < 60_000 else 9}"
            yield {
                **_log(topic, seconds),
                **place,
                "leader_rack": _maybe(random, rack, 0.02),
                "unread_reason": _unread(random),
                "end_offset": _maybe(random, _offset(partition, seconds, topic)),
                "retention_ms": _maybe(random, random.choice([-1, 3_600_000, 7_200_000])),
                "produce_rate": _maybe(random, random.choice([0.0, 0.5, 1.0, 2.0])),
            }


def _lag(random: Random, group: int, topic: int, partition: int) -> int:
    """Behind are, group by group: what one broker leads, one member owns, some, all."""
    behind: list[Callable[[], bool]] = [
        lambda: (partition + topic) % 3 == 1,
        lambda: partition // 2 == 1,
        lambda: partition in {0, 5},
        lambda: True,
    ]
    return random.choice([600, 1200, 1200]) if behind[group]() else random.choice([0, 0, 60])


def _group_partition_rows(random: Random, seconds: int) -> Iterator[Row]:
    for group in range(GROUPS):
        for topic in range(TOPICS):
            for partition in range(PARTITIONS):
                yield _group_partition(random, seconds, group, topic, partition)


def _group_partition(random: Random, seconds: int, group: int, topic: int, partition: int) -> Row:
    end, lag = _offset(partition, seconds, topic), _lag(random, group, topic, partition)
    member = _maybe(random, partition // 2)
    start = random.choice([0, 0, end // 2])
    owner = {"member_id": f"m{member}", "client_id": "c", "client_host": _maybe(random, "/h", 0.02)}
    return {
        "consumer_group": f"g{group}",
        **_log(topic, seconds),
        **_place(random, topic, partition),
        **(owner if member is not None else {}),
        "unread_reason": _unread(random),
        "committed_offset": _maybe(random, max(end - lag, 0)),
        "start_offset": _maybe(random, start),
        "end_offset": _maybe(random, end),
        "lag": _maybe(random, lag),
        "records_lost": _maybe(random, random.choice([0, 0, 0, 40]), 0.3) if group else None,
        "time_lag_seconds": _maybe(random, random.choice([0.0, 30.0, 300.5])),
        "consume_rate": _maybe(random, random.choice([0.0, 1.5, 4.0])),
        "retention_margin": _maybe(random, random.choice([0, 5, 50]), 0.5),
        "seconds_until_loss": _maybe(random, random.choice([0.0, 900.0, 2_592_000.0]), 0.5),
        "retention_risk": _maybe(random, random.choice(_WORDS["retention_risk"]), 0.5),
        "status": _maybe(random, _standing(group, partition)),
        "time_lag_error_seconds": _maybe(random, 1.0, 0.01),
    }


def _standing(group: int, partition: int) -> str:
    """Of one group what lags has stood; of another some of it."""
    if group == 0:
        return "STALL" if partition % 2 else "STOP"
    return "STOP" if (group, partition) == (2, 5) else "WARN"


def _objective(group: int, seconds: int) -> Row:
    """None of the first group; that of the last ends at noon, one has another age from then on."""
    if group == 0 or (group == GROUPS and seconds >= NOON):
        return {}
    age = 30.0 if group == 2 and seconds >= NOON else 60.0
    return {"slo_age_seconds": age, "slo_target": 99.0, "slo_days": 7 * group}


def _group_rows(random: Random, seconds: int) -> Iterator[Row]:
    for group in range(GROUPS + 1):
        # the last one is never read
        unread = "denied" if group == GROUPS else _unread(random)
        yield {
            "consumer_group": f"g{group}",
            "unread_reason": unread,
            "owner": _maybe(random, random.choice(["a", "b"])),
            "sla_seconds": _maybe(random, random.choice([30.0, 60.0])) if group else None,
            "group_state": _maybe(random, random.choice(_WORDS["group_state"])),
            "owners_changed": _maybe(random, random.choice([0, 0, 2])),
            "rebalances": _maybe(random, random.choice([0, 0, 3])),
            "lag": _maybe(random, random.choice([0, 10, 10_000])),
            "time_lag_seconds": _maybe(random, random.choice([0.0, 30.0, 900.0])),
            "time_lag_error_seconds": _maybe(random, 1.0, 0.3),
            "produce_rate": _maybe(random, random.choice([0.0, 2.0, 5.0])) if group else 0.0,
            "consume_rate": _maybe(random, random.choice([0.0, 3.0])),
            "records_lost": _maybe(random, random.choice([0, 7])) if group > 1 else None,
            "status": _maybe(random, random.choice(_WORDS["status"])),
            "members": _maybe(random, random.choice([1, 2, 5])) if group else None,
            "tasks_needed": _maybe(random, random.choice([0, 1, 3, 4])),
            "tasks_needed_reason": _maybe(random, random.choice(["rate", "backlog"])),
            **_objective(group, seconds),
            "status_reason": "gone" if random.random() < 0.005 else None,
        }
