# SPDX-License-Identifier: Apache-2.0
"""A day of a cluster in which each group has one trouble: real evaluation, real messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.lag.model import ClusterReading
from kafka_lag.notify.messages import StatusMessage
from kafka_lag.snapshots.previous import Memory
from tests.builders import HOUR, MINUTE, NOON, a_reading
from tests.functions.lag.time_index_fake import Broker, Log
from tests.functions.notify.fakes import Bench

MIDNIGHT = NOON - 12 * HOUR
# Minutes of the day: the first run and the one after the last.
BEGIN, END = 8 * 60, 14 * 60
THIRTY_DAYS = 30 * 24 * 60
# Records a minute.
RATE = 600


@dataclass(frozen=True, slots=True)
class Moment:
    """A partition in one minute; `owner` is a member, None while nobody owns it."""

    end: int
    committed: int
    start: int = 0
    owner: str | None = "m"
    state: str = "Stable"
    # What the group's client writes beside a commit, and a tool does not.
    epoch: int | None = None


# The minute since midnight; None: the group is not there.
Story: TypeAlias = Callable[[int], Moment | None]


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is planted in a group, and the kinds of its messages in order."""

    group: str
    what: str
    story: Story
    kinds: tuple[str, ...]
    retention_ms: int = 7 * 24 * HOUR
    topic_id: Callable[[int], str] = field(default=lambda _minute: "id")


def clock(text: str) -> int:
    """The minute of the day."""
    hours, _, minutes = text.partition(":")
    return 60 * int(hours) + int(minutes)


def written(minute: int) -> int:
    """The end of a log that is written to evenly for longer than anybody remembers."""
    return 10_000_000 + RATE * minute


def steady(minute: int) -> Moment:
    """A healthy group, seconds behind."""
    return Moment(written(minute), written(minute) - 20)


def _still(since: str, until: str, **more: Any) -> Story:
    """A group whose commit stands still from one time to the other."""

    def story(minute: int) -> Moment:
        if not clock(since) <= minute < clock(until):
            return steady(minute)
        return Moment(written(minute), written(clock(since)) - 20, **more)

    return story


def _worked_off(since: str, until: str, share: float) -> Story:
    """A group that reads this share of what is written from one time to the other."""
    begin, end = clock(since), clock(until)

    def story(minute: int) -> Moment:
        if minute < begin:
            return steady(minute)
        lag = round(RATE * (1 - share)) * (min(minute, end) - begin)
        lag -= 5 * RATE * max(minute - end, 0)
        return Moment(written(minute), written(minute) - max(20, lag))

    return story


def _rewound(minute: int) -> Moment:
    begin = clock("09:05")
    lag = max(20, 400_000 - 15_000 * (minute - begin)) if minute >= begin else 20
    return Moment(written(minute), written(minute) - lag)


def _made_anew(minute: int) -> Moment:
    begin, until = clock("09:15"), clock("10:10")
    if minute < begin:
        return steady(minute)
    end = RATE * (minute - begin)
    return Moment(end, written(begin) - 20 if minute < until else max(end - 20, 0))


def _imported(minute: int) -> Moment | None:
    """A group that is first seen with an old backlog, and no member."""
    return None if minute < clock("09:40") else Moment(900, 200, owner=None, state="Empty")


def _losing(minute: int) -> Moment:
    """Stands still from 10:00 to 13:00, when it is set to the end; kept are 30 minutes."""
    begin, until = clock("10:00"), clock("13:00")
    end = written(minute)
    committed = written(begin) if begin <= minute < until else end
    return Moment(end, committed - 20, end - 30 * RATE, owner=None, state="Empty")


def _late(minute: int) -> Moment:
    """Five minutes behind from 10:00 to 11:00, which is no trouble but for what was promised."""
    late = minute - clock("10:00") if minute < clock("11:00") else 0
    return Moment(written(minute), written(minute) - min(max(RATE * late, 20), 5 * RATE))


def _busy(minute: int) -> Moment:
    """From 10:30 to 12:00 eight times as much is written as usual, and half of it is read."""
    begin, until = clock("10:30"), clock("12:00")
    more = min(max(minute - begin, 0), until - begin)
    end = written(minute) + 7 * RATE * more
    lag = 4 * RATE * more - max(minute - until, 0) * 9_000
    return Moment(end, end - max(20, lag))


def _restless(minute: int) -> Moment:
    """From 11:00 to 12:00 members come and go, and nothing is committed."""
    begin, until = clock("11:00"), clock("12:00")
    if not begin <= minute < until:
        return steady(minute)
    state = contract.REBALANCING_STATES[minute % 2]
    return Moment(written(minute), written(begin) - 20, owner=f"m-{minute}", state=state)


def _deleted(minute: int) -> Moment | None:
    at = clock("11:30")
    return Moment(written(minute), written(minute) - 3_000) if minute < at else None


def _added(minute: int) -> Moment | None:
    """First seen at 09:00, 150,000 records behind; it reads 5 % more than is written, and all at
    noon."""
    begin, until = clock("09:00"), clock("12:00")
    after = minute - begin
    lag = 150_000 - 30 * after if after < until - begin else 20
    return None if after < 0 else Moment(written(minute), written(minute) - lag)


def _skipped(minute: int) -> Moment:
    """Stops at 08:40; at 09:40 a tool sets its offsets to the end; at 10:00 it reads again."""
    stop, skip, start = clock("08:40"), clock("09:40"), clock("10:00")
    if minute < stop:
        return replace(steady(minute), epoch=3)
    if minute >= start:
        return replace(steady(minute), epoch=4)
    set_to, epoch = (written(skip), None) if minute >= skip else (written(stop) - 20, 3)
    return Moment(written(minute), set_to, owner=None, state="Empty", epoch=epoch)


def _moved_again(minute: int) -> Moment:
    """One that others are compared with."""
    return steady(minute)


TROUBLES = (
    Trouble(
        "payments",
        "stopped from 08:30 to 10:00: nobody reads it",
        _still("08:30", "10:00", owner=None, state="Empty"),
        ("opened", "resolved"),
    ),
    Trouble(
        "invoices",
        "stalled from 08:50 to 10:30: its member reads nothing",
        _still("08:50", "10:30", owner="consumer-3-77aa"),
        ("opened", "resolved"),
    ),
    Trouble(
        "search-index",
        "rewound by 400,000 records at 09:05",
        _rewound,
        ("opened", "resolved", "caught_up"),
    ),
    Trouble(
        "ledger",
        "topic made anew at 09:15, commits beyond the end until 10:10",
        _made_anew,
        ("opened", "resolved"),
        topic_id=lambda minute: "id" if minute < clock("09:15") else "other",
    ),
    Trouble(
        "analytics",
        "reads half of what is written from 09:00 to 11:00",
        _worked_off("09:00", "11:00", 0.5),
        ("opened", "resolved", "caught_up"),
    ),
    Trouble(
        "exports",
        "first seen at 09:00, 150,000 records behind, reads 105 % of what is written until 12:00",
        _added,
        ("opened", "resolved"),
    ),
    Trouble(
        "import-2019",
        "first seen at 09:40, 700 records behind, and no member",
        _imported,
        ("opened", "worse"),
    ),
    Trouble(
        "audit",
        "stopped at 10:00, loses records from 10:30 to 13:00",
        _losing,
        ("opened", "loss_near", "loss_begun", "loss_ended", "resolved"),
        retention_ms=30 * MINUTE,
    ),
    Trouble(
        "clicks",
        "reads a fifth of what is written from 10:00 to 11:50; kept for two hours",
        _worked_off("10:00", "11:50", 0.2),
        ("opened", "loss_near", "loss_averted", "resolved", "caught_up"),
        retention_ms=2 * HOUR,
    ),
    Trouble(
        "orders",
        "five minutes old from 10:00 to 11:00, promised are two",
        _late,
        ("promise_broken", "promise_kept"),
    ),
    Trouble(
        "pricing",
        "eight times as much is written as usual from 10:30 to 12:00",
        _busy,
        ("opened", "resolved", "caught_up"),
    ),
    Trouble(
        "sessions",
        "rebalances all the time from 11:00 to 12:00",
        _restless,
        ("opened", "resolved"),
    ),
    Trouble(
        "trials",
        "deleted at 11:30, 3,000 records unread",
        _deleted,
        ("gone",),
    ),
    Trouble(
        "geo",
        "its topic is hidden since 30 days, when it stood still",
        steady,
        ("opened", "gone"),
    ),
    Trouble(
        "refunds",
        "stopped at 08:40; a tool sets its offsets to the end at 09:40; reads again from 10:00",
        _skipped,
        ("opened", "resolved"),
    ),
    Trouble(
        "shipping",
        "stalled from 12:10 to 13:00, its member being there; then that member reads all at once",
        _still("12:10", "13:00"),
        ("opened", "resolved"),
    ),
    Trouble("healthy", "nothing", _moved_again, ()),
)
_HIDDEN = "geo"
_LEADER = 2
_RULES = Rules(
    owners=ByName.of([(f"^{each.group}$", f"team-{each.group}") for each in TROUBLES]),
    sla_seconds=ByName.of([("^orders$", 120.0)]),
)
# Knows when the records of the import were written, two days ago, and of no other topic.
_BROKER = Broker(
    {("import-2019", 0): Log([MIDNIGHT - 48 * HOUR + minute * MINUTE for minute in range(900)])},
    {each.group for each in TROUBLES} - {"import-2019"},
)


def simulate_day() -> list[StatusMessage]:
    """All messages of the day, after twenty minutes thirty days ago."""
    bench, memory = Bench(), Memory.empty()
    for minute in (*range(-THIRTY_DAYS, 20 - THIRTY_DAYS), *range(BEGIN, END)):
        if minute < 0:
            after = minute + THIRTY_DAYS
            at = MIDNIGHT + (BEGIN + 10 + minute) * MINUTE
            moments = {_HIDDEN: Moment(5_000 + 10 * after, 5_000)}
        else:
            after, at = minute, MIDNIGHT + minute * MINUTE
            now = {each.group: each.story(minute) for each in TROUBLES if each.group != _HIDDEN}
            moments = {group: moment for group, moment in now.items() if moment}
        known = replace(memory.previous_runs(), usual=_usual("pricing"))
        reading = _read(moments, after, at)
        snapshot = evaluate(reading, known, _RULES, at, _BROKER).snapshot
        memory = memory.add_run(snapshot, _RULES.interval_ms, stored=True)
        bench.sets[at] = snapshot.groups
        bench.now = at / 1000
        bench.notifier.notify({"shop": at})
    return bench.channel.sent


def _read(moments: Mapping[str, Moment], minute: int, at: int) -> ClusterReading:
    """What brokers say of groups, each of which has a topic of its own and of its name."""
    by_name = {each.group: each for each in TROUBLES}
    groups: dict[str, Mapping[str, Sequence[int]]] = {
        name: {name: [each.committed]} for name, each in moments.items()
    }
    hidden = {}
    if _HIDDEN not in moments:
        groups[_HIDDEN], hidden = {}, {_HIDDEN: contract.DENIED}
    owners = {
        (name, name, 0): each.owner and (f"{name}-m" if each.owner == "m" else each.owner)
        for name, each in moments.items()
    }
    reading = a_reading(
        groups,
        {name: [(each.start, each.end)] for name, each in moments.items()},
        at=at,
        owners=owners,
        topic_ids={name: f"{by_name[name].topic_id(minute)}-{name}" for name in moments},
        hidden_topics=hidden,
        gone_groups=[
            name
            for name in by_name
            if name not in groups and by_name[name].story(BEGIN) is not None
        ],
    )
    retained = [by_name[name].retention_ms for name in moments]
    count = len(moments)
    rows = reading.topic_partitions.with_columns(
        retention_ms=Column.of(np.array(retained, np.int64)),
        retention_bytes=Column.of(np.full(count, -1, np.int64)),
        cleanup_policy=Strings.constant("delete", count),
        leader=Column.of(np.full(count, _LEADER, np.int32)),
    )
    states = [moments[name].state if name in moments else "Stable" for name in groups]
    members = [int(name not in moments or moments[name].owner is not None) for name in groups]
    hashes = [hash_of(moments[name].owner) if name in moments else 1 for name in groups]
    of_groups = reading.groups.with_columns(
        group_state=Strings.of(states),
        members=Column.of(np.array(members, np.int32)),
        members_hash=Column.of(np.array(hashes, np.int64)),
    )
    commits = reading.group_partitions
    epochs = [moments[name].epoch for name in commits.strings("consumer_group").to_list()]
    commits = commits.with_columns(commit_epoch=Column.optional(epochs, np.dtype(np.int32)))
    return replace(reading, topic_partitions=rows, groups=of_groups, group_partitions=commits)


def hash_of(owner: str | None) -> int:
    """A number for the members."""
    return sum(map(ord, owner or ""))


def _usual(group: str) -> Frame:
    """What the daily report has learnt of a group, as the hour's."""
    row = {
        "usual_lag": 20.0,
        "lag_spread": 20.0,
        "usual_time_lag": 5.0,
        "time_lag_spread": 5.0,
        "usual_produce_rate": RATE / 60,
        "produce_rate_spread": 1.0,
    }
    numbers = {name: Column.of(np.array([value])) for name, value in row.items()}
    return Frame.of({"consumer_group": Strings.of([group]), **numbers})
