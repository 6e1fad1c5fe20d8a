# SPDX-License-Identifier: Apache-2.0
"""All behaviours by name, each with the state that shows at the brokers once it holds."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from dev.kafka.features import CONSUMER_PROTOCOL
from dev.traffic import moving, resting
from dev.traffic.behaviour import Behaviour
from dev.traffic.probe import GroupView

_SMALL, _LARGE = 150, 200  # records; 150 are three seconds' worth


def _keeps_up(view: GroupView, *, members: int) -> bool:
    return view.members == members and bool(view.lags) and sum(view.lags) <= _SMALL


def _is_stuck(view: GroupView) -> bool:
    stands = view.partitions[0].committed == resting.POISON
    return view.members == 1 and stands and view.lags[:1] > [50] and sum(view.lags[1:]) <= _SMALL


def _is_skewed(view: GroupView) -> bool:
    hot, others = view.lags[:1], view.lags[1:]
    return view.members == len(moving.PER_THOUSAND) and hot > [_LARGE] and sum(others) <= _SMALL


def _lost_records(view: GroupView) -> bool:
    return any((each.committed or each.start) < each.start for each in view.partitions)


_LIST = (
    Behaviour(
        "healthy",
        "one member keeps up",
        moving.healthy,
        lambda view: _keeps_up(view, members=1),
    ),
    Behaviour(
        "slow",
        "one member reads a sixth of what is written: lag grows by 40 records a second",
        moving.slow,
        lambda view: view.members == 1 and sum(view.lags) >= _LARGE,
    ),
    Behaviour(
        "stopped",
        "the only member has left, records keep coming",
        resting.stopped,
        lambda view: view.members == 0 and sum(view.lags) >= _LARGE,
    ),
    Behaviour(
        "stuck",
        f"a live member never gets past record {resting.POISON} of partition 0",
        resting.stuck,
        _is_stuck,
    ),
    Behaviour(
        "skewed",
        "of 1,000 records 667, 166, 167 go to the partitions: one of three equal members is late",
        moving.skewed,
        _is_skewed,
    ),
    Behaviour(
        "expiring",
        "retention deletes records before a slow member has committed them",
        resting.expiring,
        _lost_records,
        partitions=1,
        topic_config={
            "retention.ms": "4000",
            "segment.bytes": str(1024 * 1024),
            # Also by age: filling 1 MiB again and again would take 100 times the records.
            "segment.ms": "2000",
        },
    ),
    Behaviour(
        "rebalancing",
        "a second member joins and leaves all the time",
        moving.rebalancing,
        lambda view: view.members > 1,
    ),
    Behaviour(
        "idle",
        "one record is unread on a topic nobody writes to any more, the group has no members",
        resting.idle,
        lambda view: view.members == 0 and view.lags == [1],
        partitions=1,
    ),
    Behaviour(
        "commit-only",
        "keeps up by commits alone: partitions assigned by hand, never a member",
        moving.commit_only,
        lambda view: _keeps_up(view, members=0),
    ),
    Behaviour(
        "kip848",
        "one member of the KIP-848 protocol keeps up",
        moving.kip848,
        lambda view: view.type == "CONSUMER" and _keeps_up(view, members=1),
        needs=CONSUMER_PROTOCOL,
    ),
    Behaviour(
        "transactional",
        "written in transactions: a member that commits each record rests at lag 1 per partition",
        resting.transactional,
        lambda view: view.members == 1 and view.lags == [1, 1, 1],
    ),
)

BEHAVIOURS: Mapping[str, Behaviour] = MappingProxyType({each.name: each for each in _LIST})


def possible() -> list[str]:
    """The names of those that the brokers of this version can take part in."""
    return [each.name for each in _LIST if each.needs is None or not each.needs.missing]


def chosen(wanted: Iterable[str | Behaviour]) -> list[Behaviour]:
    """Look names up, others stand for themselves; raises ValueError with the names there are."""
    return [each if isinstance(each, Behaviour) else _named(each) for each in wanted]


def _named(name: str) -> Behaviour:
    if name not in BEHAVIOURS:
        raise ValueError(f"No behaviour {name!r}; there are {', '.join(BEHAVIOURS)}")
    return BEHAVIOURS[name]
