# SPDX-License-Identifier: Apache-2.0
"""A day of a cluster in which each group has one trouble: real evaluation, real messages.

`python -m tests.functions.notify.troubled_day FOLDER [SEED]` writes what people get of it:
messages, alarms and the status page. `TROUBLES` says what was planted, and the files do not; with a
seed it is another day with other names, and `truth.txt` says which is which.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.formatting import format_minute
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.lag.model import ClusterReading, Snapshot
from kafka_lag.notify.messages import StatusMessage
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from kafka_lag.snapshots.previous import Memory
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.views.page import answer
from kafka_lag_cdk import alarm_rules
from tests.builders import HOUR, MINUTE, NOON, a_reading, table
from tests.fakes import MemoryStore
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
    """What is planted in a group: the kinds of its messages in order, and what they must say."""

    group: str
    what: str
    story: Story
    kinds: tuple[str, ...]
    says: tuple[str, ...] = ()
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
        (
            "Stopped since 2026-01-31 08:30 UTC",
            "read by nobody",
            "start its consumers",
            "OK since 2026-01-31 10:00 UTC: it was stopped since 2026-01-31 08:30 UTC, for 90 min.",
            "At the most: 53,420 records behind, at 2026-01-31 09:59 UTC; the oldest had waited 89 "
            "min; retention deleted none of them.",
            "Not known: whether the 53,420 records that were unread at 2026-01-31 09:59 UTC were "
            "read or skipped. Its commit passed them within 60 s, at 890/s or faster; compare",
        ),
    ),
    Trouble(
        "invoices",
        "stalled from 08:50 to 10:30: its member reads nothing",
        _still("08:50", "10:30", owner="consumer-3-77aa"),
        ("opened", "resolved"),
        (
            "Stalled since 2026-01-31 08:50 UTC",
            "read by consumer-3-77aa",
            "see the member's log",
        ),
    ),
    Trouble(
        "search-index",
        "rewound by 400,000 records at 09:05",
        _rewound,
        ("opened", "resolved", "caught_up"),
        (
            "Rewound since 2026-01-31 09:05 UTC",
            "370,000 records behind",
            "Cost: 399,380 records are read a second time; of these 368,180 are still to come.",
            "At the most: 400,000 records behind, at 2026-01-31 09:05 UTC",
            "has caught up at 2026-01-31 09:32 UTC",
            "OK again since 2026-01-31 09:16 UTC, as it reads faster than is written, with 205,000 "
            "records left to catch up: it was set back at 2026-01-31 09:05 UTC.",
            "205,000 records still to read",
            "worked off in 14 min",
        ),
    ),
    Trouble(
        "ledger",
        "topic made anew at 09:15, commits beyond the end until 10:10",
        _made_anew,
        ("opened", "resolved"),
        (
            "ERR since 2026-01-31 09:15 UTC",
            "Beyond the end since 2026-01-31 09:15 UTC",
            "Not known: whether it read the records (about 33,000, at 10/s)",
            "the topic was deleted and made anew: its id is another one",
            "stop the group and set its offsets anew",
        ),
        topic_id=lambda minute: "id" if minute < clock("09:15") else "other",
    ),
    Trouble(
        "analytics",
        "reads half of what is written from 09:00 to 11:00",
        _worked_off("09:00", "11:00", 0.5),
        ("opened", "resolved", "caught_up"),
        (
            "Falling behind since about 2026-01-31 09:00 UTC",
            "24,000 records still to read, the oldest unread for 40 min, worked off in 8 min",
            "At the most: 36,000 records behind, at 2026-01-31 11:00 UTC; the oldest had waited 60",
            "has caught up at 2026-01-31 11:12 UTC",
            "10/s written to its topics, 5",
            "led by broker 2, read by analytics-m",
        ),
    ),
    Trouble(
        "exports",
        "first seen at 09:00, 150,000 records behind, reads 105 % of what is written until 12:00",
        _added,
        ("opened", "resolved"),
        (
            "Too slow since before 2026-01-31 09:00 UTC, when the group was first seen",
            "Passed by its own members",
            "At the most: 149,670 records behind, at 2026-01-31 09:11 UTC; retention deleted none",
            "230 times as fast as it read before",
            "worked off in",
        ),
    ),
    Trouble(
        "import-2019",
        "first seen at 09:40, 700 records behind, and no member",
        _imported,
        ("opened", "worse"),
        (
            "No member since before 2026-01-31 09:40 UTC, when the group was first seen",
            "no commit was seen since 2026-01-31 09:40 UTC, when the group was first seen",
            "the oldest unread for 2.3 d",
            "ERR since 2026-01-31 09:51 UTC, after WARN",
        ),
    ),
    Trouble(
        "audit",
        "stopped at 10:00, loses records from 10:30 to 13:00",
        _losing,
        ("opened", "loss_near", "loss_begun", "loss_ended", "resolved"),
        (
            "Stopped since 2026-01-31 10:00 UTC",
            "loses records since 2026-01-31 10:30 UTC",
            "Lost so far: 1,220 records",
            "from 2026-01-31 10:30 UTC to 2026-01-31 12:59 UTC retention deleted at least 89,420 "
            "records",
            "18,000 records behind, at 2026-01-31 10:30 UTC; the oldest had waited 30 min; not "
            "counting at least 89,420 records that retention deleted unread",
        ),
        retention_ms=30 * MINUTE,
    ),
    Trouble(
        "clicks",
        "reads a fifth of what is written from 10:00 to 11:50; kept for two hours",
        _worked_off("10:00", "11:50", 0.2),
        ("opened", "loss_near", "loss_averted", "resolved", "caught_up"),
        (
            "near a loss since 2026-01-31 11:31 UTC: retention may delete unread records in 57 "
            "min, at 2026-01-31 12:30 UTC",
            "no longer near a loss, if it keeps its speed. It was near one from",
            "40,800 records behind, the oldest unread for 68 min, worked off in 14 min",
        ),
        retention_ms=2 * HOUR,
    ),
    Trouble(
        "orders",
        "five minutes old from 10:00 to 11:00, promised are two",
        _late,
        ("promise_broken", "promise_kept"),
        (
            "breaks its promise of 2 min (sla_seconds) since 2026-01-31 10:03 UTC: the oldest "
            "unread has waited 5 min; its status is OK.",
            "Lately: the backlog grew from 1,800 to 3,000 records in 2 min; 10/s are written to "
            "its topics, and nothing was read.",
            "the longest wait was 5 min",
            "keeps its promise of 2 min again",
        ),
    ),
    Trouble(
        "pricing",
        "eight times as much is written as usual from 10:30 to 12:00",
        _busy,
        ("opened", "resolved", "caught_up"),
        (
            "162,000 records still to read, the oldest unread for 39 min, worked off in 18 min",
            "if it lasts, add partitions and members, as its only partition has a member already",
            "Unusual:",
            "10/s written to its topics (now 7",
        ),
    ),
    Trouble(
        "sessions",
        "rebalances all the time from 11:00 to 12:00",
        _restless,
        ("opened", "resolved"),
        (
            "Rebalancing all the time: it commits nothing since 2026-01-31 11:00 UTC (stalled).",
            "owned just then by m-673",
            "for 60 min; it rebalanced all the time.",
            "Not known: whether the 35,420 records",
        ),
    ),
    Trouble(
        "trials",
        "deleted at 11:30, 3,000 records unread",
        _deleted,
        ("gone",),
        (
            "is gone since 2026-01-31 11:30 UTC (last seen 2026-01-31 11:29 UTC)",
            "When last seen: 3,000 records behind",
            "Its last offsets, of 2026-01-31 11:29 UTC: in the reporter's bucket, snapshots/"
            "group_partitions/cluster=shop/dt=2026-01-31/hour=11/20260131T112900Z-0of1.parquet",
        ),
    ),
    Trouble(
        "geo",
        "its topic is hidden since 30 days, when it stood still",
        steady,
        ("opened", "gone"),
        (
            "brokers have shown the reporter nothing of topic geo since 2026-01-01 08:30 UTC (30 "
            "days). Last known: ERR, stalled; whether it recovered is unknown.",
        ),
    ),
    Trouble(
        "refunds",
        "stopped at 08:40; a tool sets its offsets to the end at 09:40; reads again from 10:00",
        _skipped,
        ("opened", "resolved"),
        (
            "Stopped since 2026-01-31 08:40 UTC",
            "OK since 2026-01-31 10:00 UTC: it was stopped since 2026-01-31 08:40 UTC, for 80 min",
            "Skipped: 36,020 records that it never read, as its offsets were set ahead: 35,420 "
            "behind at 2026-01-31 09:39 UTC, 0 at 2026-01-31 09:40 UTC, and nobody read on then.",
            "Not known: whether the 11,400 records that were unread at 2026-01-31 09:59 UTC",
        ),
    ),
    Trouble(
        "shipping",
        "stalled from 12:10 to 13:00, its member being there; then that member reads all at once",
        _still("12:10", "13:00"),
        ("opened", "resolved"),
        (
            "Stalled since 2026-01-31 12:10 UTC",
            "read by shipping-m",
            "At the most: 29,420 records behind, at 2026-01-31 12:59 UTC; the oldest had waited 49",
            "Passed by its own members: the 29,420 records that were unread at 2026-01-31 12:59",
        ),
    ),
    Trouble("healthy", "nothing", _moved_again, ()),
)
_HIDDEN = "geo"
# Knows when the records of the import were written, two days ago, and of no other topic.
_OLD = MIDNIGHT - 2 * 24 * HOUR
_LEADER = 2


@dataclass(frozen=True, slots=True)
class Day:
    """By what names the groups and their topics go, how they are called here where none is given,
    and so many minutes later than planted."""

    groups: Mapping[str, str] = field(default_factory=dict)
    topics: Mapping[str, str] = field(default_factory=dict)
    later: int = 0

    def group(self, name: str) -> str:
        return self.groups.get(name, name)

    def topic(self, name: str) -> str:
        return self.topics.get(name, name)

    def rules(self) -> Rules:
        owners = [(f"^{self.group(each.group)}$", f"team-{each.group}") for each in TROUBLES]
        if self.groups:
            owners = [(pattern, f"team-{number}") for number, (pattern, _) in enumerate(owners)]
        return Rules(
            owners=ByName.of(owners),
            sla_seconds=ByName.of([(f"^{self.group('orders')}$", 120.0)]),
        )

    def broker(self) -> Broker:
        """Knows when the records of the import were written, two days ago, and of no other."""
        imported = Log([_OLD + (n + self.later) * MINUTE for n in range(900)])
        others = {self.topic(each.group) for each in TROUBLES} - {self.topic("import-2019")}
        return Broker({(self.topic("import-2019"), 0): imported}, others)


_WORDS = (
    *("amber", "basalt", "cedar", "delta", "ember", "fjord", "garnet", "harbor", "indigo"),
    *("juniper", "kelp", "lagoon", "maple", "nectar", "onyx", "pebble", "quartz", "raven"),
)
_KINDS = ("events", "changes", "documents", "requests")


def draw_day(seed: int) -> Day:
    """Names that say nothing of what was planted."""
    chance = random.Random(seed)  # noqa: S311
    planted = [each.group for each in TROUBLES]
    words = chance.sample(_WORDS, len(planted))
    topics = {name: f"{chance.choice(_KINDS)}-{chance.randrange(100, 999)}" for name in planted}
    groups = {name: f"{word}-reader" for name, word in zip(planted, words, strict=True)}
    return Day(groups, topics, chance.randrange(13, 240))


@dataclass
class Cluster:
    """The cluster run by run, with all that a collector and a notifier make of it."""

    day: Day = field(default_factory=Day)
    memory: Memory = field(default_factory=Memory.empty)
    snapshots: dict[int, Snapshot] = field(default_factory=dict)
    bench: Bench = field(default_factory=Bench)

    def run(self, taken_at: int, reading: ClusterReading) -> None:
        """One run, then the event of it."""
        rules = self.day.rules()
        known = replace(self.memory.previous_runs(), usual=_usual(self.day.group("pricing")))
        snapshot = evaluate(reading, known, rules, taken_at, self.day.broker()).snapshot
        self.memory = self.memory.add_run(snapshot, rules.interval_ms, stored=True)
        self.snapshots[taken_at] = snapshot
        self.bench.sets[taken_at] = snapshot.groups
        self.bench.now = taken_at / 1000
        self.bench.notifier.notify({"shop": taken_at})

    @property
    def messages(self) -> list[StatusMessage]:
        return self.bench.channel.sent


def simulate_day(end: int = END, day: Day | None = None) -> Cluster:
    """The day until its minute `end`, after twenty minutes thirty days ago."""
    day = day or Day()
    cluster = Cluster(day)
    for minute in range(20):
        at = MIDNIGHT + (BEGIN + 10 + minute + day.later - THIRTY_DAYS) * MINUTE
        cluster.run(at, _read({_HIDDEN: Moment(5_000 + 10 * minute, 5_000)}, minute, at, day))
    for minute in range(BEGIN, end):
        at = MIDNIGHT + (minute + day.later) * MINUTE
        now = {each.group: each.story(minute) for each in TROUBLES if each.group != _HIDDEN}
        cluster.run(at, _read({k: v for k, v in now.items() if v}, minute, at, day))
    return cluster


def _read(planted: Mapping[str, Moment], minute: int, at: int, day: Day) -> ClusterReading:
    """What brokers say of groups, each of which has a topic of its own."""
    by_name = {day.group(each.group): each for each in TROUBLES}
    topic_of = {name: day.topic(each.group) for name, each in by_name.items()}
    moments = {day.group(name): each for name, each in planted.items()}
    topics = {topic_of[name]: [(each.start, each.end)] for name, each in moments.items()}
    groups: dict[str, Mapping[str, Sequence[int]]] = {
        name: {topic_of[name]: [each.committed]} for name, each in moments.items()
    }
    hidden = {}
    if _HIDDEN not in planted:
        groups[day.group(_HIDDEN)], hidden = {}, {day.topic(_HIDDEN): contract.DENIED}
    owners = {
        (name, topic_of[name], 0): each.owner
        and (f"{name}-{each.owner}" if each.owner == "m" else each.owner)
        for name, each in moments.items()
    }
    reading = a_reading(
        groups,
        topics,
        at=at,
        owners=owners,
        topic_ids={topic_of[each]: f"{by_name[each].topic_id(minute)}-{each}" for each in moments},
        hidden_topics=hidden,
        gone_groups=[
            name
            for name in by_name
            if name not in groups and by_name[name].story(BEGIN) is not None
        ],
    )
    retained = [by_name[name].retention_ms for name in moments]
    count = len(topics)
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


# What people get, as files.


def write_day(cluster: Cluster, folder: Path) -> None:
    """Messages in order, alarms, and the page every hour."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, message in enumerate(cluster.messages, 1):
        (group,) = {str(message.notice.attributes[contract.ATTRIBUTE_GROUP])}
        text = f"Subject: {message.notice.subject}\n\n{message.notice.text}\n"
        (folder / f"message-{number:02}-{group}.txt").write_text(text)
        events = "\n".join(event.detail for event in message.events)
        (folder / f"message-{number:02}-{group}.json").write_text(f"{events}\n")
    (folder / "alarms.txt").write_text("\n".join(find_alarms(cluster)) + "\n")
    for hour in range(9, 14):
        page = render_page(cluster, MIDNIGHT + hour * HOUR + cluster.day.later * MINUTE)
        (folder / f"page-{hour:02}00.html").write_bytes(page)
        text = re.sub(r"(?s)<(script|style|svg).*?</\1>|<[^>]+>", " ", page.decode())
        (folder / f"page-{hour:02}00.txt").write_text(re.sub(r"\s*\n\s*", "\n", text))


def render_page(cluster: Cluster, at: int) -> bytes:
    """The overview at this time."""
    store = MemoryStore()
    for taken_at, snapshot in cluster.snapshots.items():
        if at - HOUR <= taken_at <= at:
            for dataset in contract.DATASETS:
                data = to_parquet(snapshot.dataset(dataset), dataset)
                store.objects[object_key(dataset, "shop", taken_at)] = data
    now = at + 20_000
    return answer(Request("/", {}, "localhost"), Snapshots(store, lambda: now / 1000), now).body


def find_alarms(cluster: Cluster) -> Iterator[str]:
    """When each alarm on all groups fires and ends, as CloudWatch judges it."""
    for rule in alarm_rules.OF_ANY_GROUP:
        for trouble in TROUBLES:
            yield from _judge(cluster, rule, cluster.day.group(trouble.group))


def _judge(cluster: Cluster, rule: alarm_rules.Rule, group: str) -> Iterator[str]:
    breaching: list[bool] = []
    is_firing = False
    for at, snapshot in cluster.snapshots.items():
        value = _value_of(rule, snapshot.groups, group)
        if value is None or rule.threshold is None:
            continue
        breaching = [*breaching[1 - rule.periods :], alarm_breaches(rule, value)]
        now = sum(breaching) >= rule.datapoints
        if now != is_firing:
            is_firing = now
            state = "ALARM" if now else "OK"
            says = f"\n  {rule.meaning} {rule.to_do}" if now else ""
            yield f"{format_minute(at)} {state} {rule.name}, contributor {group}, {value:g}{says}"


def alarm_breaches(rule: alarm_rules.Rule, value: float) -> bool:
    """Whether one value is on the wrong side of the threshold."""
    assert rule.threshold is not None
    match rule.operator:
        case alarm_rules.Operator.BELOW:
            return value < rule.threshold
        case alarm_rules.Operator.ABOVE:
            return value > rule.threshold
    return value >= rule.threshold


def _value_of(rule: alarm_rules.Rule, groups: Frame, group: str) -> float | None:
    names = ("status", "seconds_until_loss", "time_lag_seconds", "sla_seconds")
    rows = {row[0]: row[1:] for row in table(groups, "consumer_group", *names)}
    if group not in rows:
        return None
    status, left, age, promised = rows[group]
    match rule.metric:
        case contract.GROUP_STATUS:
            return None if status is None else contract.GROUP_STATUS_VALUES[status]
        case contract.TIME_TO_DATA_LOSS:
            return None if left is None else float(left)
        case contract.SLA_USED:
            return None if age is None or promised is None else float(age / promised)
    return None


def describe_truth(day: Day) -> Iterator[str]:
    """A line a group: what was planted, in times of the plan and by how much the day is later."""
    yield f"All times of the plan are {day.later} minutes earlier than those of the day."
    for each in TROUBLES:
        yield f"{day.group(each.group)} (topic {day.topic(each.group)}): {each.what}"


if __name__ == "__main__":
    folder, *seed = sys.argv[1:]
    drawn = draw_day(int(seed[0])) if seed else Day()
    write_day(simulate_day(day=drawn), Path(folder))
    (Path(folder) / "truth.txt").write_text("\n".join(describe_truth(drawn)) + "\n")
