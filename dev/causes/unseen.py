# SPDX-License-Identifier: Apache-2.0
"""Cases set aside: incidents on brokers, by somebody who has not read the rules of causes.

Whoever has seen what the rules say of them and changes a rule makes a new set; these are `tried`
then.
"""

from __future__ import annotations

from dev.causes.faults import (
    Case,
    Deploy,
    Flap,
    Freeze,
    Group,
    Hang,
    Join,
    Kill,
    Leave,
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
        "campaign-mail-goes-out",
        topics={"visits": Topic(partitions=16, rate=160)},
        groups={
            "scoring": Group("visits", members=5, ms=18),
            "archive": Group("visits", members=1, ms=1, protocol="consumer"),
        },
        happens=((2, Produce("visits", times=2.7)),),
        right={"scoring": {"more_produced"}},
    ),
    one_group(
        "sensors-report-more-often",
        Topic(partitions=2, rate=12),
        Group("temperatures", members=1, ms=45),
        "more_produced",
        happens=Produce("temperatures", times=3.5),
    ),
    one_group(
        "partner-opens-its-feed",
        Topic(partitions=6, rate=66),
        Group("offers", members=3, ms=26, protocol="consumer"),
        "more_produced",
        after=1,
        happens=Produce("offers", times=2.9, ramp=12),
    ),
    one_group(
        "cache-is-cold",
        Topic(partitions=15, rate=150),
        Group("baskets", members=5, ms=18),
        "capacity_fell",
        after=3,
        happens=Slow("service", ms=75),
    ),
    one_group(
        "partner-throttles-calls",
        Topic(partitions=3, rate=16),
        Group("messages", members=2, ms=35),
        "capacity_fell",
        happens=Slow("service", ms=240),
    ),
    one_group(
        "release-without-an-index",
        Topic(partitions=10, rate=80),
        Group("accounts", members=4, ms=22, protocol="consumer"),
        "capacity_fell",
        after=2,
        happens=Deploy("service", pause=1.5, ms=130),
    ),
    one_group(
        "spot-instances-taken",
        Topic(partitions=18, rate=180),
        Group("pictures", members=6, ms=22),
        "too_few_members",
        after=4,
        happens=Kill("service", members=(1, 2, 4, 5)),
    ),
    one_group(
        "one-of-two-not-scheduled",
        Topic(partitions=4, rate=28),
        Group("letters", members=2, ms=58),
        "too_few_members",
        happens=Leave("service", members=(1,)),
    ),
    one_group(
        "scaled-in-too-eagerly",
        Topic(partitions=8, rate=72),
        Group("searches", members=4, ms=38, protocol="consumer"),
        "too_few_members",
        after=6,
        happens=Leave("service", members=(1, 2, 3)),
    ),
    Case(
        "peak-after-scaling-in",
        topics={"rides": Topic(partitions=9, rate=54)},
        groups={"dispatch": Group("rides", members=3, ms=30)},
        happens=((0, Leave("dispatch", members=(2,))), (8, Produce("rides", times=2.4))),
        right={"dispatch": {"more_produced", "too_few_members"}},
    ),
    Case(
        "month-end-is-kept-up-with",
        topics={"bookings": Topic(partitions=12, rate=84)},
        groups={"accounts": Group("bookings", members=4, ms=14)},
        happens=((5, Produce("bookings", times=2, ramp=4, lasts=45)),),
    ),
    Case(
        "two-releases-in-a-row",
        topics={"coupons": Topic(partitions=3, rate=18)},
        groups={"till": Group("coupons", members=2, ms=12, protocol="consumer")},
        happens=((4, Deploy("till", pause=2.0)), (55, Deploy("till", pause=1.0))),
    ),
)

_MEMBERS = (
    one_group(
        "host-shared-with-a-build",
        Topic(partitions=15, rate=165),
        Group("clicks", members=5, ms=15),
        "slow_member",
        after=2,
        happens=Slow("service", ms=85, members=(3,)),
    ),
    # The heap is nearly full: collections stop the process for longer than it works, and end
    # before its session does.
    Case(
        "garbage-collector-pauses",
        topics={"profiles": Topic(partitions=4, rate=28)},
        groups={"merge": Group("profiles", members=2, ms=40, session_seconds=20)},
        happens=tuple((n * 7.0, Freeze("merge", members=(0,), lasts=5.3)) for n in range(17)),
        right={"merge": {"slow_member"}},
    ),
    Case(
        "rewind-by-one-team-slow-pod-of-another",
        topics={"payments": Topic(partitions=6, rate=60)},
        groups={
            "fraud": Group("payments", members=3, ms=24, protocol="consumer"),
            "statements": Group("payments", members=2, ms=12),
        },
        happens=(
            (0, Slow("fraud", ms=210, members=(0,))),
            (5, Reset("statements", back=700)),
        ),
        right={"fraud": {"slow_member"}, "statements": {"offsets_reset"}},
    ),
    one_group(
        "release-does-not-start",
        Topic(partitions=12, rate=120),
        Group("shipments", members=5, ms=16),
        "stopped",
        after=3,
        happens=Leave("service"),
    ),
    Case(
        "only-reader-evicted",
        topics={"doors": Topic(partitions=1, rate=8)},
        groups={
            "alarm": Group("doors", members=1, ms=20),
            # Twice as slow as before, and still fast enough.
            "log": Group("doors", members=1, ms=15, protocol="consumer"),
        },
        happens=((0, Kill("alarm")), (4, Slow("log", ms=40))),
        right={"alarm": {"stopped"}},
    ),
    one_group(
        "readiness-probe-too-strict",
        Topic(partitions=12, rate=108),
        Group("sessions", members=5, ms=28),
        "rebalances",
        after=1,
        happens=Flap("service", members=3, up=2.8, down=1.2),
    ),
    one_group(
        "one-pod-out-of-memory-again",
        Topic(partitions=4, rate=32),
        Group("thumbnails", members=2, ms=26, protocol="consumer"),
        "rebalances",
        happens=Flap("service", members=1, up=2.0, down=1.0, kill=True),
    ),
    # Each member in turn works on one batch for longer than the group lets it: it is put out, and
    # joins again when it is done.
    Case(
        "batches-take-longer-than-max-poll",
        topics={"contracts": Topic(partitions=6, rate=72)},
        groups={
            "render": Group("contracts", members=3, ms=30, session_seconds=4, poll_seconds=4),
        },
        happens=tuple((n * 7.0, Hang("render", members=(n % 3,), lasts=6.0)) for n in range(17)),
        right={"render": {"rebalances"}},
    ),
    Case(
        "one-merchant-imports-its-catalogue",
        topics={"products": Topic(partitions=16, rate=128)},
        groups={
            "prices": Group("products", members=4, ms=16),
            "mirror": Group("products", members=1, ms=1),
        },
        happens=((2, Skew("products", weights={11: 24}, times=2.0)),),
        right={"prices": {"hot_partition"}},
    ),
    one_group(
        "meter-sends-twice-and-again",
        Topic(partitions=3, rate=24),
        Group("meters", members=3, ms=32),
        "hot_partition",
        happens=Skew("meters", weights={1: 10}, times=2.8),
    ),
    one_group(
        "customer-with-huge-documents",
        Topic(partitions=9, rate=63),
        Group("documents", members=2, ms=24, workers="each"),
        "hot_partition",
        after=4,
        happens=Slow("service", ms=320, partitions=(2,)),
    ),
    Case(
        "scaled-out-for-the-match-and-back",
        topics={"bets": Topic(partitions=10, rate=70)},
        groups={"odds": Group("bets", members=2, ms=7)},
        happens=(
            (3, Join("odds", members=2)),
            (20, Produce("bets", times=2.2, ramp=6, lasts=40)),
            (90, Leave("odds", members=(2, 3))),
        ),
    ),
)

_RECORDS = (
    one_group(
        "schema-nobody-knows",
        Topic(partitions=20, rate=160),
        Group("changes", members=4, ms=14),
        "stuck_record",
        after=3,
        happens=Poison("service", partition=13),
    ),
    Case(
        "one-bad-letter-one-open-transaction",
        topics={
            "letters": Topic(partitions=2, rate=10),
            "transfers": Topic(partitions=1, rate=6),
        },
        groups={
            "print": Group("letters", members=1, ms=20),
            "ledger": Group("transfers", members=1, ms=15),
        },
        happens=((0, Poison("print", partition=1)), (2, OpenTransaction("transfers", partition=0))),
        right={"print": {"stuck_record"}, "ledger": {"open_transaction"}},
    ),
    one_group(
        "parser-runs-out-of-memory-on-it",
        Topic(partitions=9, rate=63),
        Group("uploads", members=3, ms=18),
        "stuck_record",
        "rebalances",
        after=1,
        happens=Poison("service", partition=4, then="crash"),
    ),
    one_group(
        "producer-died-in-its-transaction",
        Topic(partitions=12, rate=132),
        Group("positions", members=3, ms=9),
        "open_transaction",
        after=2,
        happens=OpenTransaction("positions", partition=10),
    ),
    Case(
        "transaction-of-a-minute-and-a-frozen-host",
        topics={
            "seats": Topic(partitions=5, rate=40),
            "flights": Topic(partitions=5, rate=35),
        },
        groups={
            "sales": Group("seats", members=2, ms=10, protocol="consumer"),
            "boards": Group("flights", members=2, ms=14),
        },
        happens=(
            (0, OpenTransaction("seats", partition=2, lasts=75)),
            (3, Freeze("boards")),
        ),
        right={"sales": {"open_transaction"}, "boards": {"stopped"}},
    ),
    # Of these three the members fetch in small pieces (`slow_line`): what is deleted on the brokers
    # does not wait in a client already.
    Case(
        "index-slow-and-disk-small",
        topics={"traces": Topic(partitions=12, rate=108, keep_seconds=12)},
        groups={"search": Group("traces", members=3, ms=15, slow_line=True)},
        happens=((2, Slow("search", ms=70)),),
        right={"search": {"retention_race", "capacity_fell"}},
    ),
    Case(
        "large-documents-kept-for-minutes",
        topics={
            "scans": Topic(partitions=2, rate=3, batch_seconds=20, record_bytes=60_000),
        },
        groups={"archive": Group("scans", members=1, ms=255, slow_line=True)},
        happens=((0, Retain("scans", seconds=4)),),
        right={"archive": {"retention_race"}},
    ),
    Case(
        "replay-into-a-short-topic",
        topics={"pings": Topic(partitions=3, rate=15, keep_seconds=8)},
        groups={"uptime": Group("pings", members=1, ms=32, slow_line=True)},
        happens=((1, Produce("pings", times=7, lasts=60)),),
        right={"uptime": {"retention_race", "more_produced"}},
    ),
    one_group(
        "rewind-after-a-wrong-release",
        Topic(partitions=12, rate=144),
        Group("totals", members=4, ms=16),
        "offsets_reset",
        after=4,
        happens=Reset("service", back=600),
    ),
    Case(
        "from-the-start-again",
        topics={"recipes": Topic(partitions=2, rate=14)},
        groups={
            "kitchen": Group("recipes", members=1, ms=36),
            # Commits seldom, as a group does that writes files.
            "files": Group("recipes", members=1, ms=6, commit_seconds=8, protocol="consumer"),
        },
        happens=((0, Reset("kitchen")),),
        right={"kitchen": {"offsets_reset"}},
    ),
    one_group(
        "topic-dropped-and-made-by-a-script",
        Topic(partitions=8, rate=64),
        Group("stock", members=2, ms=10),
        "offsets_reset",
        after=5,
        happens=Recreate("stock"),
    ),
    Case(
        "nightly-job-and-a-silent-source",
        topics={
            "invoices": Topic(partitions=4, rate=24, batch_seconds=30),
            "scales": Topic(partitions=3, rate=15),
        },
        groups={
            "ledger": Group("invoices", members=1, ms=11),
            "weights": Group("scales", members=2, ms=15),
        },
        happens=((6, Produce("scales", times=0, lasts=50)),),
    ),
)

_BROKERS = (
    Case(
        "broker-on-a-full-disk",
        topics={
            "trades": Topic(partitions=12, rate=192),
            "quotes": Topic(partitions=9, rate=126),
            "holidays": Topic(partitions=4, rate=36, brokers=(1, 2), copies=2),
        },
        groups={
            "pricing": Group("trades", members=4, ms=4, slow_line=True),
            "risk": Group("trades", members=2, ms=2, slow_line=True),
            "charts": Group("quotes", members=3, ms=5, slow_line=True),
            "calendar": Group("holidays", members=1, ms=8),
        },
        happens=((0, SlowBroker(3, delay=2.6)),),
        right={name: {"slow_broker"} for name in ("pricing", "risk", "charts")},
    ),
    # A late answer to a heartbeat delays the next one: the session is longer than both.
    Case(
        "broker-behind-a-bad-cable-and-a-bad-label",
        topics={
            "parcels": Topic(partitions=4, rate=28, record_bytes=500),
            "customs": Topic(partitions=3, rate=15, record_bytes=700),
            "labels": Topic(partitions=4, rate=20, brokers=(2, 3), copies=2),
        },
        groups={
            "tracking": Group("parcels", members=2, ms=10, session_seconds=20, slow_line=True),
            "returns": Group("parcels", members=1, ms=8, session_seconds=20, slow_line=True),
            "forms": Group("customs", members=1, ms=12, session_seconds=20, slow_line=True),
            "printing": Group("labels", members=2, ms=15),
        },
        happens=((2, SlowBroker(1, delay=4.0)), (4, Poison("printing", partition=2))),
        right={
            **{name: {"slow_broker"} for name in ("tracking", "returns", "forms")},
            "printing": {"stuck_record"},
        },
    ),
    Case(
        "host-restarts-and-a-worker-hangs",
        topics={
            "events": Topic(partitions=9, rate=72, copies=1),
            "claims": Topic(partitions=6, rate=48, brokers=(1, 3), copies=2),
        },
        groups={
            "reports": Group("events", members=3, ms=12),
            "lake": Group("events", members=1, ms=3, protocol="consumer"),
            "review": Group("claims", members=3, ms=20),
        },
        # The broker is back before the case ends, and the next case needs it.
        happens=((3, StopBroker(2, lasts=40, kill=True)), (25, Hang("review", members=(1,)))),
        right={
            "reports": {"unavailable"},
            "lake": {"unavailable"},
            "review": {"slow_member"},
        },
    ),
    Case(
        "broker-shut-down-with-its-only-copies",
        topics={
            "vouchers": Topic(partitions=3, rate=12, copies=1),
            "passes": Topic(partitions=2, rate=10, brokers=(1, 2), copies=1),
            "gates": Topic(partitions=4, rate=24),
        },
        groups={
            "shop": Group("vouchers", members=1, ms=15),
            "entrance": Group("passes", members=1, ms=20, protocol="consumer"),
            "counters": Group("gates", members=2, ms=10),
        },
        happens=((4, StopBroker(1)),),
        right={"shop": {"unavailable"}, "entrance": {"unavailable"}},
    ),
)

CASES = (*_LOADS, *_MEMBERS, *_RECORDS, *_BROKERS)
