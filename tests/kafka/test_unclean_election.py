# SPDX-License-Identifier: Apache-2.0
"""An unclean leader election: the log loses records that a group has read, and gets others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dev.kafka import KafkaCluster
from dev.kafka.jars import UNCLEAN_ELECTION
from kafka_lag import contract
from tests.dev.cluster_fixture import make_whole
from tests.kafka.looking import commit, create, group, looker, only, partitions, produce
from tests.kafka_versions import needs

pytestmark = [pytest.mark.kafka, pytest.mark.thorough, needs(UNCLEAN_ELECTION)]

NAME = "unclean"
COPIED, LOST = 95, 5


@pytest.fixture(name="cluster")
def _cluster(mortal_cluster: KafkaCluster) -> Iterator[KafkaCluster]:
    make_whole(mortal_cluster)
    yield mortal_cluster
    make_whole(mortal_cluster)


def test_what_is_written_after_an_unclean_election_below_a_commit_is_skipped_for_ever(
    cluster: KafkaCluster,
) -> None:
    leader, follower, _ = cluster.node_ids
    create(
        cluster,
        NAME,
        1,
        replication_factor=-1,
        replica_assignment=[[leader, follower]],
        config={"unclean.leader.election.enable": "true"},
    )
    produce(cluster, NAME, {0: COPIED})
    cluster.stop(follower)
    produce(cluster, NAME, {0: LOST})
    commit(cluster, NAME, NAME, [COPIED + LOST])
    with looker(cluster, only(f"^{NAME}$")) as eyes:

        def see(end: int) -> dict[str, object]:
            """The partition once its log ends there."""
            report = eyes.look_until(
                lambda seen: (
                    partitions(seen, NAME).get((NAME, 0), {}).get("end_offset") == end
                    and group(seen, NAME)["unread_reason"] is None
                )
            )
            return {**group(report, NAME), **partitions(report, NAME)[NAME, 0]}

        assert see(COPIED + LOST)["lag"] == 0
        cluster.kill(leader)
        cluster.start(follower)
        row = see(COPIED)
        assert (row["status"], row["status_reason"]) == (contract.ERR, contract.BEYOND_END)
        assert row["skipped_at"] is None
        produce(cluster, NAME, {0: LOST + 4})
        row = see(COPIED + LOST + 4)

    assert (row["status"], row["lag"]) == (contract.OK, 4)
    assert (row["skipped_from"], row["skipped_to"]) == (COPIED, COPIED + LOST)
    assert row["skip_reason"] == contract.TRUNCATED
    assert (row["records_skipped"], row["skipped_at"]) == (LOST, row["taken_at"])
