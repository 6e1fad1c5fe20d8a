# SPDX-License-Identifier: Apache-2.0
"""Messages of a day on which each group has one trouble, made by real evaluations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.lag.model import ClusterReading
from kafka_lag.notify.messages import Notice, StatusMessage
from kafka_lag.snapshots.previous import Memory
from tests.builders import HOUR, MINUTE, NOON, a_reading
from tests.functions.lag.time_index_fake import Broker, Log
from tests.functions.notify.fakes import Bench
from tests.golden import Golden

MIDNIGHT = NOON - 12 * HOUR
# Minutes of the day: the first run and the one after the last.
BEGIN, END = 8 * 60, 12 * 60 + 30
# Records a minute.
RATE = 600


@dataclass(frozen=True, slots=True)
class Moment:
    """A partition in one minute; `owner` is a member, None while nobody owns it."""

    end: int
    committed: int
    start: int = 0
    owner: str | None = "m"
    # What the group's client writes beside a commit, and a tool does not.
    epoch: int | None = None
    state: str = "Stable"


# The minute since midnight; None: the group is not there.
Story: TypeAlias = Callable[[int], Moment | None]


@dataclass(frozen=True, slots=True)
class Step:
    """From a time of the day on: the lag then, and how it changes a minute, to 20 with a member."""

    since: str
    lag: int = 20
    growth: int = 0
    owner: str | None = "m"
    epoch: int | None = None


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


def steps(*more: Step | None, kept: int | None = None) -> Story:
    """A group that is healthy but for these steps; None first: it is not there before.

    `kept` is how many minutes of records its topic holds, if not all.
    """
    found = [Step("00:00"), *(step for step in more if step)]

    def story(minute: int) -> Moment | None:
        step = next(each for each in reversed(found) if clock(each.since) <= minute)
        if step is found[0] and more[:1] == (None,):
            return None
        end, lag = written(minute), step.lag + step.growth * (minute - clock(step.since))
        start = 0 if kept is None else end - kept * RATE
        state = "Stable" if step.owner else "Empty"
        return Moment(
            end, end - max(lag, 20 if step.owner else 0), start, step.owner, step.epoch, state
        )

    return story


def _made_anew(minute: int) -> Moment:
    begin, until = clock("09:15"), clock("10:10")
    if minute < begin:
        return Moment(written(minute), written(minute) - 20)
    end = RATE * (minute - begin)
    return Moment(end, written(begin) - 20 if minute < until else max(end - 20, 0))


def _imported(minute: int) -> Moment | None:
    """A group that is first seen with an old backlog, and no member."""
    return None if minute < clock("09:40") else Moment(900, 200, owner=None, state="Empty")


def _busy(minute: int) -> Moment:
    """From 10:30 to 11:30 eight times as much is written as usual, and half of it is read."""
    begin, until = clock("10:30"), clock("11:30")
    more = min(max(minute - begin, 0), until - begin)
    end = written(minute) + 7 * RATE * more
    lag = 4 * RATE * more - max(minute - until, 0) * 9_000
    return Moment(end, end - max(20, lag))


def _restless(minute: int) -> Moment:
    """From 10:30 to 11:30 members come and go, and nothing is committed."""
    begin, until = clock("10:30"), clock("11:30")
    if not begin <= minute < until:
        return Moment(written(minute), written(minute) - 20)
    state = contract.REBALANCING_STATES[minute % 2]
    return Moment(written(minute), written(begin) - 20, owner=f"m-{minute}", state=state)


def _deleted(minute: int) -> Moment | None:
    at = clock("11:30")
    return Moment(written(minute), written(minute) - 3_000) if minute < at else None


TROUBLES = (
    Trouble(
        "payments",
        "stopped from 08:30 to 10:00: nobody reads it",
        steps(Step("08:30", 20, RATE, None), Step("10:00")),
        ("opened", "resolved"),
    ),
    Trouble(
        "invoices",
        "stalled from 08:50 to 10:30: its member reads nothing",
        steps(Step("08:50", 20, RATE, "consumer-3-77aa"), Step("10:30")),
        ("opened", "resolved"),
    ),
    Trouble(
        "search-index",
        "rewound by 400,000 records at 09:05",
        steps(Step("09:05", 400_000, -15_000)),
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
        steps(Step("09:00", 0, RATE // 2), Step("11:00", 36_000, -5 * RATE)),
        ("opened", "resolved", "caught_up"),
    ),
    Trouble(
        "exports",
        "first seen at 09:00, 150,000 records behind, reads 105 % of what is written until 12:00",
        steps(None, Step("09:00", 150_000, -30), Step("12:00")),
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
        "stopped at 10:00, loses records from 10:30 to 12:00",
        steps(
            Step("08:00", owner=None),
            Step("10:00", 20, RATE, None),
            Step("12:00", owner=None),
            kept=30,
        ),
        ("opened", "loss_near", "loss_begun", "loss_ended", "resolved"),
        retention_ms=30 * MINUTE,
    ),
    Trouble(
        "clicks",
        "reads a fifth of what is written from 10:00 to 11:50; kept for two hours",
        steps(Step("10:00", 0, RATE * 4 // 5), Step("11:50", 52_800, -5 * RATE)),
        ("opened", "loss_near", "loss_averted", "resolved", "caught_up"),
        retention_ms=2 * HOUR,
    ),
    Trouble(
        "orders",
        "five minutes old from 10:00 to 11:00, its SLA is two",
        steps(Step("10:00", 0, RATE), Step("10:05", 5 * RATE), Step("11:00")),
        ("promise_broken", "promise_kept"),
    ),
    Trouble(
        "pricing",
        "eight times as much is written as usual from 10:30 to 11:30",
        _busy,
        ("opened", "resolved", "caught_up"),
    ),
    Trouble(
        "sessions",
        "rebalances all the time from 10:30 to 11:30",
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
        "refunds",
        "stopped at 08:40; a tool sets its offsets to the end at 09:40; reads again from 10:00",
        steps(
            Step("00:00", epoch=3),
            Step("08:40", 20, RATE, None, 3),
            Step("09:40", 0, RATE, None, None),
            Step("10:00", epoch=4),
        ),
        ("opened", "resolved"),
    ),
    Trouble(
        "shipping",
        "stalled from 11:10 to 12:00, its member being there; then that member reads all at once",
        steps(Step("11:10", 20, RATE), Step("12:00")),
        ("opened", "resolved"),
    ),
    Trouble("healthy", "nothing", steps(), ()),
)
_LEADER = 2
_RULES = Rules(
    cluster="shop",
    owners=ByName.of([(f"^{each.group}$", f"team-{each.group}") for each in TROUBLES]),
    sla_seconds=ByName.of([("^orders$", 120.0)]),
)
# Knows when the records of the import were written, two days ago, and of no other topic.
_BROKER = Broker(
    {("import-2019", 0): Log([MIDNIGHT - 48 * HOUR + minute * MINUTE for minute in range(900)])},
    {each.group for each in TROUBLES} - {"import-2019"},
)


def simulate_day() -> list[StatusMessage]:
    """All messages of the day."""
    bench, memory = Bench(), Memory.empty()
    for minute in range(BEGIN, END):
        at = MIDNIGHT + minute * MINUTE
        now = {each.group: each.story(minute) for each in TROUBLES}
        reading = _read({group: moment for group, moment in now.items() if moment}, minute, at)
        known = replace(memory.previous_runs(), usual=_usual("pricing"))
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
    states = [each.state for each in moments.values()]
    members = [int(each.owner is not None) for each in moments.values()]
    hashes = [hash_of(each.owner) for each in moments.values()]
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


def kinds(found: Sequence[Notice]) -> tuple[str, ...]:
    each_has = [each.attributes[contract.ATTRIBUTE_KIND] for each in found]
    return tuple(kind for each in each_has for kind in ([each] if isinstance(each, str) else each))


def write(notice: Notice) -> str:
    """The subject and the first line; messages.txt has all that others say."""
    return f"{notice.subject}\n{notice.text.splitlines()[0]}"


def test_each_trouble_of_a_day_is_told_once_with_its_end(golden: Golden) -> None:
    found: dict[str, list[Notice]] = {each.group: [] for each in TROUBLES}
    for message in simulate_day():
        found[str(message.notice.attributes[contract.ATTRIBUTE_GROUP])].append(message.notice)

    assert {group: kinds(each) for group, each in found.items()} == {
        trouble.group: trouble.kinds for trouble in TROUBLES
    }
    assert len({each.thread for each in found["audit"]}) == 1
    golden.holds_cases(
        "messages-of-a-day.txt",
        {
            f"{each.group}: {each.what}": "\n".join(map(write, found[each.group]))
            for each in TROUBLES
        },
    )
