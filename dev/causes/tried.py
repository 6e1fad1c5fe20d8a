# SPDX-License-Identifier: Apache-2.0
"""Cases on brokers that the rules were tried on and then repaired by: no measure of them any more.

They were set aside at first. What the rules said of them has been read since.
"""

from __future__ import annotations

from dev.causes.faults import (
    Case,
    Deploy,
    Flap,
    Freeze,
    Group,
    Hang,
    Kill,
    Leave,
    MoveLeaders,
    OpenTransaction,
    Poison,
    Produce,
    Recreate,
    Reset,
    Retain,
    Skew,
    Slow,
    SlowBroker,
    StopBroker,
    Topic,
    one_group,
)

_LOADS = (
    Case(
        "flash-sale",
        topics={"clicks": Topic(partitions=12, rate=180)},
        groups={
            "recommendations": Group("clicks", members=4, ms=15),
            "archive": Group("clicks", members=1, ms=1),
        },
        happens=((3, Produce("clicks", times=2.6)),),
        right={"recommendations": {"more_produced"}},
    ),
    one_group(
        "evening-grows",
        Topic(partitions=3, rate=20),
        Group("readings", members=1, ms=28),
        "more_produced",
        happens=Produce("readings", times=3.2, ramp=20),
    ),
    one_group(
        "import-beside-traffic",
        Topic(partitions=5, rate=50),
        Group("catalog", members=2, ms=16, protocol="consumer"),
        "more_produced",
        after=5,
        happens=Produce("catalog", times=4, lasts=80),
    ),
    one_group(
        "database-slow",
        Topic(partitions=8, rate=160),
        Group("payments", members=4, ms=12),
        "capacity_fell",
        after=2,
        happens=Slow("service", ms=45),
    ),
    one_group(
        "release-slow",
        Topic(partitions=4, rate=40),
        Group("invoices", members=2, ms=20),
        "capacity_fell",
        happens=Deploy("service", pause=1.0, ms=95),
    ),
    one_group(
        "slow-in-a-wave",
        Topic(partitions=6, rate=90, wave_seconds=50),
        Group("sessions", members=3, ms=12),
        "capacity_fell",
        after=4,
        happens=Slow("service", ms=70),
    ),
    one_group(
        "all-wait-for-a-lock",
        Topic(partitions=6, rate=50),
        Group("stock", members=2, ms=8),
        "capacity_fell",
        happens=Hang("service"),
    ),
)

_MEMBERS = (
    one_group(
        "scaled-in-by-half",
        Topic(partitions=12, rate=240),
        Group("orders", members=6, ms=20),
        "too_few_members",
        after=1,
        happens=Leave("service", members=(1, 3, 5)),
    ),
    one_group(
        "two-hosts-lost",
        Topic(partitions=6, rate=60),
        Group("mails", members=3, ms=28),
        "too_few_members",
        happens=Kill("service", members=(0, 2)),
    ),
    one_group(
        "one-host-frozen",
        Topic(partitions=6, rate=90),
        Group("prices", members=3, ms=25),
        "too_few_members",
        after=3,
        happens=Freeze("service", members=(1,)),
    ),
    one_group(
        "scaled-in-new-protocol",
        Topic(partitions=8, rate=96),
        Group("routes", members=4, ms=32, protocol="consumer"),
        "too_few_members",
        happens=Leave("service", members=(0, 3)),
    ),
    Case(
        "scaled-to-zero",
        topics={"events": Topic(partitions=6, rate=60)},
        groups={"nightly": Group("events", members=2, ms=10), "live": Group("events", members=3)},
        happens=((6, Leave("nightly")),),
        right={"nightly": {"stopped"}},
    ),
    one_group(
        "only-process-killed",
        Topic(partitions=2, rate=18),
        Group("alerts", members=1, ms=15, protocol="consumer"),
        "stopped",
        happens=Kill("service"),
    ),
    one_group(
        "all-killed",
        Topic(partitions=9, rate=150),
        Group("search", members=4, ms=10),
        "stopped",
        after=4,
        happens=Kill("service"),
    ),
    one_group(
        "noisy-neighbour",
        Topic(partitions=12, rate=180),
        Group("orders", members=4, ms=12),
        "slow_member",
        after=2,
        happens=Slow("service", ms=65, members=(2,)),
    ),
    one_group(
        "garbage-collection",
        Topic(partitions=6, rate=45),
        Group("profiles", members=3, ms=20, protocol="consumer"),
        "slow_member",
        happens=Slow("service", ms=220, members=(0,)),
    ),
    one_group(
        "one-process-hangs",
        Topic(partitions=9, rate=90),
        Group("tickets", members=3, ms=10),
        "slow_member",
        after=5,
        happens=Hang("service", members=(1,)),
    ),
    one_group(
        "pod-killed-for-memory",
        Topic(partitions=8, rate=80),
        Group("images", members=3, ms=20),
        "rebalances",
        happens=Flap("service", members=1, up=2.5, down=1.0, kill=True),
    ),
    one_group(
        "restarts-in-a-circle",
        Topic(partitions=12, rate=150),
        Group("feeds", members=4, ms=20),
        "rebalances",
        after=2,
        happens=Flap("service", members=2, up=2.5, down=0.8),
    ),
)

_RECORDS = (
    one_group(
        "one-customer",
        Topic(partitions=12, rate=240),
        Group("usage", members=4, ms=10),
        "hot_partition",
        after=3,
        happens=Skew("usage", weights={5: 13}),
    ),
    one_group(
        "device-in-a-loop",
        Topic(partitions=4, rate=40),
        Group("devices", members=2, ms=18, workers="each"),
        "hot_partition",
        happens=Skew("devices", weights={0: 10}, times=2.2),
    ),
    one_group(
        "dear-tenant",
        Topic(partitions=6, rate=90),
        Group("reports", members=2, ms=20, workers="each"),
        "hot_partition",
        after=2,
        happens=Slow("service", ms=160, partitions=(4,)),
    ),
    one_group(
        "cannot-be-parsed",
        Topic(partitions=10, rate=200),
        Group("ledger", members=4, ms=10),
        "stuck_record",
        after=3,
        happens=Poison("service", partition=7),
    ),
    one_group(
        "tried-for-ever",
        Topic(partitions=6, rate=30),
        Group("hooks", members=2, ms=10),
        "stuck_record",
        "slow_member",
        happens=Poison("service", partition=2, then="block"),
    ),
    one_group(
        "crashes-on-it",
        Topic(partitions=6, rate=42),
        Group("scans", members=2, ms=12),
        "stuck_record",
        "rebalances",
        happens=Poison("service", partition=1, then="crash"),
    ),
    one_group(
        "another-cannot-be-parsed",
        Topic(partitions=3, rate=24),
        Group("labels", members=1, ms=8, protocol="consumer"),
        "stuck_record",
        after=1,
        happens=Poison("service", partition=0),
    ),
    one_group(
        "transaction-hangs",
        Topic(partitions=8, rate=120),
        Group("balances", members=2, ms=4),
        "open_transaction",
        after=2,
        happens=OpenTransaction("balances", partition=3),
    ),
    one_group(
        "small-transaction-hangs",
        Topic(partitions=2, rate=16),
        Group("fees", members=1, ms=10, protocol="consumer"),
        "open_transaction",
        happens=OpenTransaction("fees", partition=0),
    ),
)

_OFFSETS = (
    one_group(
        "operator-goes-back",
        Topic(partitions=6, rate=90),
        Group("index", members=3, ms=4),
        "offsets_reset",
        after=2,
        happens=Reset("service", back=900),
    ),
    one_group(
        "operator-begins-anew",
        Topic(partitions=3, rate=30),
        Group("graph", members=1, ms=18),
        "offsets_reset",
        happens=Reset("service"),
    ),
    one_group(
        "topic-made-anew",
        Topic(partitions=4, rate=40),
        Group("carts", members=2, ms=8),
        "offsets_reset",
        after=3,
        happens=Recreate("carts"),
    ),
    Case(
        "kept-for-too-short",
        topics={"logs": Topic(partitions=6, rate=120)},
        groups={"shipping": Group("logs", members=2, ms=12)},
        happens=((0, Slow("shipping", ms=34)), (0, Retain("logs", seconds=8))),
        right={"shipping": {"retention_race", "capacity_fell"}},
    ),
    one_group(
        "batches-larger-than-kept",
        Topic(partitions=2, rate=80, batch_seconds=10, record_bytes=200),
        Group("exports", members=1, ms=9),
        "retention_race",
        happens=Retain("exports", bytes=20_000),
    ),
)

_TOGETHER = (
    Case(
        "two-teams",
        topics={"sales": Topic(partitions=9, rate=90)},
        groups={
            "invoicing": Group("sales", members=3, ms=15),
            "fraud": Group("sales", members=3, ms=15),
        },
        happens=((0, Leave("invoicing")), (6, Slow("fraud", ms=130, members=(1,)))),
        right={"invoicing": {"stopped"}, "fraud": {"slow_member"}},
    ),
    Case(
        "peak-beside-a-bad-record",
        topics={"posts": Topic(partitions=8, rate=80)},
        groups={
            "timeline": Group("posts", members=2, ms=20),
            "push": Group("posts", members=3, ms=8),
        },
        happens=((0, Produce("posts", times=2.3)), (8, Poison("push", partition=5))),
        right={"timeline": {"more_produced"}, "push": {"stuck_record"}},
    ),
    Case(
        "reset-while-a-host-is-slow",
        topics={"views": Topic(partitions=6, rate=60)},
        groups={
            "top": Group("views", members=2, ms=5),
            "trends": Group("views", members=3, ms=15),
        },
        happens=((4, Reset("top", back=500)), (0, Slow("trends", ms=180, members=(2,)))),
        right={"top": {"offsets_reset"}, "trends": {"slow_member"}},
    ),
)

_WELL = (
    Case(
        "rolling-release",
        topics={"orders": Topic(partitions=8, rate=100)},
        groups={"basket": Group("orders", members=3, ms=10)},
        happens=((5, Deploy("basket")),),
    ),
    Case(
        "short-burst-and-leaders-move",
        topics={"orders": Topic(partitions=6, rate=60)},
        groups={"basket": Group("orders", members=2, ms=6), "audit": Group("orders", ms=4)},
        happens=((2, Produce("orders", times=2, lasts=10)), (30, MoveLeaders("orders"))),
    ),
    Case(
        "fewer-suffice",
        topics={"orders": Topic(partitions=6, rate=40)},
        groups={"basket": Group("orders", members=4, ms=10)},
        happens=((3, Leave("basket", members=(0, 1))),),
    ),
)

_BROKERS = (
    Case(
        "broker-with-a-worn-disk",
        topics={
            "orders": Topic(partitions=9, rate=180),
            "stock": Topic(partitions=6, rate=150),
        },
        groups={
            "billing": Group("orders", members=3, ms=3, slow_line=True),
            "audit": Group("orders", members=1, ms=1, slow_line=True),
            "depot": Group("stock", members=2, ms=3, slow_line=True),
        },
        happens=((0, SlowBroker(2, delay=3.0)),),
        right={name: {"slow_broker"} for name in ("billing", "audit", "depot")},
    ),
    Case(
        "broker-lost-with-its-only-copies",
        topics={
            "ledger": Topic(partitions=6, rate=60, copies=1),
            "safe": Topic(partitions=6, rate=60),
        },
        groups={
            "booking": Group("ledger", members=2, ms=5),
            "mirror": Group("ledger", members=1, ms=2, protocol="consumer"),
            "safe-reader": Group("safe", members=2, ms=5),
        },
        happens=((3, StopBroker(3, kill=True)),),
        right={"booking": {"unavailable"}, "mirror": {"unavailable"}},
    ),
)

CASES = (*_LOADS, *_MEMBERS, *_RECORDS, *_OFFSETS, *_TOGETHER, *_WELL, *_BROKERS)
