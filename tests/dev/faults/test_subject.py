# SPDX-License-Identifier: Apache-2.0
"""What is taken for the output of a run: what it wrote itself."""

from dev.faults.subject import CLUSTER, Noted, Store
from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet


def test_what_an_earlier_run_writes_late_is_no_output_of_this_one() -> None:
    noted, dataset = Noted(Store()), contract.TOPIC_PARTITIONS
    empty = to_parquet(Frame.empty(dataset), dataset)
    noted.write_once(object_key(dataset, CLUSTER, 2_000), empty)
    noted.write_once(object_key(contract.GROUPS, CLUSTER, 1_000), b"late")
    assert noted.frames(2_000) == {dataset: []}
