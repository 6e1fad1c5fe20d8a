# SPDX-License-Identifier: Apache-2.0
"""The member probe, on stored runs of one group whose members own a partition or two each."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lag.snapshots.store import FolderStore, write_snapshot
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.views.member_probe import Verdict, probe_member
from kafka_lag_cli.command import main
from tests.builders import MINUTE, NOON
from tests.fakes import MemoryStore
from tests.functions.lag.strips import Strips, split_strips
from tests.functions.views.burrow.snapshots import Shop

# After the names of a strip: what the probe says of member m after the last run.
STRIPS = split_strips(
    """
    stalled False
        runs      16
        end       0 +20
        commit    0 20x15
        owner     m
        end.1     0 +20
        commit.1  0 +20
        owner.1   n
    one of its partitions moves: True
        runs      16
        end       0 +20
        commit    0 20x15
        owner     m
        end.1     0 +20
        commit.1  0 +20
        owner.1   m
    nothing waits True
        runs      16
        end       0 20x15
        commit    0 20x15
        owner     m
    took over what was stuck None
        runs      16
        end       0 +20
        commit    0 20x15
        owner     nx11 mx5
    the group rebalanced None
        runs      16
        end       0 +20
        commit    0 20x15
        owner     mx9 -x2 mx5
    owns nothing while it rebalances None
        runs      16
        end       0 +20
        commit    0 20x15
        owner     mx14 -x2
        state     Stablex14 PreparingRebalancex2
    has waited for less than ten minutes: True
        runs      9
        end       0 +20
        commit    0 20x8
        owner     m
    """
)
CLUSTER = "shop"


def stored(name: str) -> MemoryStore:
    """The snapshots of the runs of one strip."""
    store = MemoryStore()
    for report in Strips({name: STRIPS[name]}).reports:
        write_snapshot(store, CLUSTER, report.snapshot)
    return store


def probed(store: MemoryStore, name: str, client: str = "client-m", late: int = 0) -> Verdict:
    now = max(Snapshots(store, lambda: NOON / 1000 + 9e3).runs(CLUSTER, NOON)) + late
    return probe_member(Snapshots(store, lambda: now / 1000), CLUSTER, name, client, now)


@pytest.mark.parametrize("name", STRIPS)
def test_only_a_member_that_moves_none_of_its_waiting_partitions_is_stalled(name: str) -> None:
    verdict = probed(stored(name), name)

    assert str(verdict.is_alive) == name.rpartition(" ")[2], verdict
    assert verdict.is_known


def test_the_other_member_of_the_group_is_alive() -> None:
    store = stored("stalled False")

    assert probed(store, "stalled False", "client-n").is_alive is True


def test_what_is_not_known_is_never_stalled() -> None:
    name = "stalled False"
    store = stored(name)
    late, down = probed(store, name, late=20 * MINUTE), MemoryStore(down=["keys", "folders"])

    assert (late.is_alive, late.is_known) == (None, True)
    assert probed(store, name, "nobody") == Verdict(
        None, "No member with the client ID nobody owns a partition.", is_known=False
    )
    assert not probed(store, "no-group").is_known
    unread = probe_member(Snapshots(down, lambda: NOON / 1000), CLUSTER, name, "client-m", NOON)
    assert (unread.is_alive, unread.is_known) == (None, True)


def test_members_with_one_client_id_are_not_told_apart() -> None:
    owned = [("m", 0), ("n", 1)]
    shop = Shop(
        [_a_partition(number, member_id=member, owned_at=NOON) for member, number in owned],
        [{"consumer_group": "billing", "status": "OK", "complete": 1.0}],
    )

    body = shop.body("/v3/kafka/shop/consumer/billing/member/app-1", code=404)

    assert "2 members" in body["message"]


def _a_partition(number: int, **more: object) -> dict[str, object]:
    row = {"consumer_group": "billing", "topic": "orders", "partition_id": number}
    return {**row, "client_id": "app-1", **more}


@pytest.mark.parametrize(
    ("client", "code", "exit_code"), [("client-m", 503, 1), ("client-n", 200, 0), ("x", 404, 4)]
)
def test_the_path_and_the_command_say_the_same(
    client: str, code: int, exit_code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "stalled False"
    shop, folder = Shop(), FolderStore(tmp_path)
    shop.store, shop.now_ms = stored(name), NOON + 15 * MINUTE
    for key, data in shop.store.objects.items():
        folder.write_once(key, data)
    monkeypatch.setattr("time.time", lambda: shop.now_ms / 1000)

    answer = shop.ask(f"/v3/kafka/shop/consumer/{name}/member/{client}")

    assert answer.status == code
    assert main(["alive", name, "--client-id", client, "--state", str(tmp_path)]) == exit_code
