# SPDX-License-Identifier: Apache-2.0
"""The scenarios, as `dev.sim.live.planting` reads them, and the contents of the brokers' logs."""

from __future__ import annotations

import math
import struct

from confluent_kafka import Message

from dev.kafka import KafkaCluster
from dev.kafka.records import read_back, read_messages
from dev.sim.live.logs import History

_COMMITS = [("__consumer_offsets", number) for number in range(6)]
SCENARIOS = """
steady | 20 records a second, read as fast, a minute behind
    topic rates=20,; write 2000 100s 0s; commit 800; group members=1 ms=50
idle, caught up | the last record 3 h ago, all read
    write 100 5h 3h; commit 100
stuck for hours | a record each 10 s for 6 h and then each second, none read for 4 h
    topic rates=1,; write 2160 6h 0h; commit 720
transactions | all records of a transaction read and committed; the marker behind them is not
    write_transaction 10 3h 2h commits; commit 10
below log start | 10 of 100 read, the first 50 deleted
    write 100 10h 1h; commit 10; delete_records 50
beyond end | commit 500 where the log ends at 100
    write 100 3h 2h; commit 500
bursty | 400 records each 20 s, read within ten seconds
    topic rates=20, batch_seconds=600; write 400 40s 39s; commit 400; group members=1 ms=25
idle, one unread | the last record, of 3 h ago, unread; the group has commits and never had a member
    write 100 5h 3h; commit 99
cold start | stuck 6 h ago; judged by the first answer of a new process
    write 1000 8h 1m; commit 250; judged first
stuck, then more was written | 100 records in 5 h, 5,000 in the sixth; stuck at the 40th
    write 100 6h 1h; write 5000 1h 1m; commit 40
consumer gone | 20 records a second, none read since the start
    topic rates=20,; write 2000 100s 0s; commit 2000
open transaction | 100 records of half an hour in one
    write 50 2h 1h; write_transaction 100 30m 20m stays-open; commit 50
aborted transaction | 100 aborted records, then 10 unread
    write 50 6h 5h; write_transaction 100 4h 3h aborts; write 10 1h 30m; commit 50
all deleted unread | 10 of 100 read, all deleted
    write 100 10h 1h; commit 10; delete_records 100
compacted | the next 50 records were compacted away
    topic cleanup.policy=compact segment.ms=1000 max.compaction.lag.ms=1000
    write 100 10h 9h; write 100 1h 30m; commit 50
    write 10 1m 30s; wait_for_compaction 110
rebalancing | a member joins and leaves all the time; a record each 5 s is read
    topic rates=0,0; write 1000 3h 1h; commit 50 60
    group members=2 ms=5000; Flap billing up=300 down=60
KIP-848 | a member of the new protocol
    topic rates=0,0; write 100 3h 1h; commit 50 60; group members=1 protocol=consumer; Hang billing
classic member | a member that is stuck
    topic rates=0,0; write 100 3h 1h; commit 50 60; group members=1; Hang billing
partition without commit | two of three were committed
    topic rates=0,0,0; write 100 3h 1h; commit 50 60 -
group without commit | a member that never commits
    write 100 3h 1h; group members=1; Hang billing
one partition stuck | one of three
    topic rates=0,0,0; write 100 3h 1h; commit 20 100 100
many groups | 150 groups on one topic
    write 1000 5h 1h; commit_many 150 6
rare commits | 20 records a second, committed once a minute
    topic rates=20,; write 2000 100s 0s; commit 2000; group members=1 ms=1 commit_seconds=1800
back-filled timestamps | records of last week behind newer ones; one group among them, one before
    write 100 2h 1h; write 100 168h 144h; write 50 60s 30s
    commit 50 group=before; commit 120 group=among
log append time | brokers overwrite old timestamps
    topic message.timestamp.type=LogAppendTime; write 100 5h 1h; commit 50
first record after silence | one unread record, minutes old, after 5 h without any
    write 100 10h 5h; write 1 20s 20s; commit 100
odd name | a group called `... ODD`
    write 100 3h 1h; commit 50 group=ODD
abandoned topic | left a day ago, beside one that is read
    topic; topic name=old; write 100 30h 29h topic=old; commit 60 topic=old
    write 100 3h 2h; commit 100
empty topic | commit 0, nothing ever written
    commit 0
deleted topic | with unread records, while the programs run
    write 100 3h 1h; commit 50; then; delete
recreated topic | the same name with 40 records, 30 read
    write 100 5h 3h; commit 80; then; recreate; write 40 2h 1h; commit 30
deleted group | with lag, while the programs run
    write 100 3h 1h; commit 50; then; delete_group
reset to latest | a group that was stuck skips its lag
    write 100 5h 1h; commit 20; then; commit 100
rewind | a group that had read all goes back 5 h
    write 100 5h 1h; commit 100; then; commit 0
new partitions | 1, then 3, with records and commits
    write 100 3h 1h; commit 50; then; add_partitions 3; write 50 1h 30m; commit - 10 20
retention overtakes | the log start passes the commit while the programs run
    write 100 10h 1h; commit 50; then; delete_records 80
new group | its first commit, 70 behind, while the programs run
    write 100 3h 1h; then; commit 30
hung broker: a topic beside it | the topic's only replica and the group's coordinator are on others
    topic brokers=1, copies=1; write 100 3h 1h; commit_away 50 broker=3; judged hung
hung broker: a topic on it | the topic's only replica hangs; nothing is written or read
    topic brokers=3, copies=1; write 100 3h 1h; commit_away 50 broker=3; judged hung
"""


def read_logs(cluster: KafkaCluster, history: History) -> None:
    """Reads all commits with their times, and the offsets that hold no record for readers."""
    bootstrap = cluster.bootstrap("PLAINTEXT")
    for message in read_messages(bootstrap, _COMMITS):
        _take_commit(message, history)
    alive = {at: each[-1] for at, each in history.logs.items() if each[-1].over == math.inf}
    for at, found in read_back(cluster.admin(), bootstrap, [*alive]).items():
        log = alive[at]
        log.unreadable = set(range(found.start, found.end)) - set(found.offsets.tolist())
        # A marker at the end.
        log.ends.append((log.ends[-1][0] if log.ends else log.begun, found.end))


def _take_commit(message: Message, history: History) -> None:
    key, value = bytes(message.key() or b""), message.value()
    version, length = struct.unpack_from(">hh", key)
    # Other versions are about groups and their members.
    if version > 1:
        return
    group, rest = key[4 : 4 + length].decode(), key[4 + length :]
    (length,) = struct.unpack_from(">h", rest)
    topic, (partition,) = rest[2 : 2 + length].decode(), struct.unpack_from(">i", rest, 2 + length)
    offset = struct.unpack_from(">q", value, 2)[0] if value else None
    history.commits[group, topic, partition].append((message.timestamp()[1] / 1_000, offset))
