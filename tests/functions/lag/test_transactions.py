# SPDX-License-Identifier: Apache-2.0
"""Consumers of topics written in transactions: rests after markers, and open transactions.

A transaction is its records and a marker, which no consumer is given. A consumer commits the offset
after the last record, and rests there below the marker.
"""

from __future__ import annotations

import numpy as np
import pytest

from kafka_lag.contract import OK
from kafka_lag.lag.group_settings import ByName, Rules, TaskSettings
from tests.functions.lag.strips import Strips, split_strips

# Most begin alike: a transaction of five records, one that a run sees open, and two rests of four
# minutes that end with another record.
RESTS = split_strips(
    """
    one marker
        end                     6x2 7 8 10x4 12x4 14 16x30
        stable                  endx2 6 end
        commit                  5x3 7 9x4 11x4 13 15
        status                  ?x3 OKx40
        lag                     ... 1x30
        time_lag_seconds        ... 0x27
        time_lag_error_seconds  ?x3 30.02 45.03x4 59.99 120 180 0 59.99x2 120 180 0x27
        time_lag_method         ... markerx30
        group.status            ... OKx30
        group.time_lag_seconds  ... 0
        scaling_lag             ... 0x29
    ten markers
        end     6x2 7 8 19x4 30x4 41 52x15
        stable  endx2 6 end
        commit  5x3 7 9x4 20x4 31 42
        status  ?x3 OKx25
    eleven are no markers
        end     6x2 7 8 20x4 32x4 44 56x15
        stable  endx2 6 end
        commit  5x3 7 9x4 21x4 33 45
        status  ?x3 OKx21 STALLx4
    more markers than ever before, twice
        end     6x2 7 8 10x4 12x4 14 18x15 22x15
        stable  endx2 6 end
        commit  5x3 7 9x4 11x4 13 15x15 19
        status  ?x3 OKx21 STALLx4 OKx15
    after one rest
        end     6 7 8 10x5 12x15
        stable  end 6 end
        commit  5x2 7 9x5 11
        status  ?x2 OKx17 STALLx4
    after two rests
        end     6 7 8 10x5 12x5 14x15
        stable  end 6 end
        commit  5x2 7 9x5 11x5 13
        status  ?x2 OKx26
    no transaction was ever seen
        end         3x5 6x5 9x5 12x5 15x5 18x15
        stable      end
        commit      1x5 4x5 7x5 10x5 13x5 16
        status      ?x5 OKx31 STALLx4
        rests_seen  ?x5 1x5 2x5 3x25
    the first transaction that is seen comes after them
        end               2x6 4x6 6x6 13x32
        stable            2x6 4x6 6
        commit            1x6 3x6 5
        status            ?x6 OKx44
        status_reason     ?x19 open_transactionx31
        lag               ... 8x32
        time_lag_seconds  ... 1916
    another partition shows that the topic has transactions
        end              2x5 4x5 6x5 8x5 10x5
        stable           end
        commit           1x5 3x5 5x5 7x5 9
        end.1            4
        stable.1         2 end
        commit.1         0
        time_lag_method  ... markerx5
    stuck on the newest record, until the next one comes
        end               6x2 7 8 12x4 16x4 18 20x5 22x30 24x12
        stable            endx2 6 end
        commit            5x3 7 9x4 13x4 17 19
        status            ?x3 OKx55 STALLx2
        time_lag_seconds  ... 705
    stuck on a record with its marker
        end     6x2 7 8 10x4 12x4 14x6 16x12
        stable  endx2 6 end
        commit  5x3 7 9x4 11x4 13
        status  ?x3 OKx25 STALLx2
    a hundred records after half an hour
        end               6x2 7 8 10x4 12x4 14x30 115 115
        stable            endx2 6 end
        commit            5x3 7 9x4 11x4 13x31 114
        status            ?x3 OKx41
        time_lag_seconds  ... 0 59.69 0
    a short rest may have been none
        end                     6x2 7 8 14x4 20x4 22x2 24 28
        stable                  endx2 6 end
        commit                  5x3 7 9x4 15x4 21
        time_lag_seconds        ... 0 52.48
        time_lag_error_seconds  ... 180 187.5
    a longer one was
        end                     6x2 7 8 14x4 20x4 22x2 24x3 28
        stable                  endx2 6 end
        commit                  5x3 7 9x4 15x4 21
        time_lag_seconds        ... 0 52.48
        time_lag_error_seconds  ... 300 52.48
    one that grew just now may have been none
        end                     6x2 7 8 17x4 26x4 28x2 30x5 33 39
        stable                  endx2 6 end
        commit                  5x3 7 9x4 18x4 27
        time_lag_seconds        ... 0 54.99
        time_lag_error_seconds  ... 480 545
    aborted records, no more than markers before
        end              6x2 7 8 14x4 20x4 22 24x21 28x20
        stable           endx2 6 end
        commit           5x3 7 9x4 15x4 21 23
        status           ?x3 OKx51
        time_lag_method  ... markerx20
    a commit onto what was taken for markers
        end         6x2 7 8 12x4 16x4 20 24x27
        stable      endx2 6 end
        commit      5x3 7 9x4 13x4 17 21x10 23
        rests_seen  ?x3 1x5 2x15 ?x17
        status      ?x3 OKx31 STALLx6
    a commit that goes back
        end         6x2 7 8 10x4 12x4 14x6 14
        stable      endx2 6 end
        commit      5x3 7 9x4 11x4 13x6 1
        rests_seen  ?x3 1x5 2x10 ?
        rest_end    ... 14 ?
    a topic that was recreated
        end         6x2 7 8 10x4 12x4 14 14
        stable      endx2 6 end
        commit      5x3 7 9x4 11x4 13 13
        topic_id    ax13 b
        rests_seen  ?x3 1x5 2x5 ?
    a run that did not read it
        end              6x2 7 8 10x4 12x4 14 timeout 14x15
        stable           endx2 6 endx10 - end
        commit           5x3 7 9x4 11x4 13
        status           ?x3 OKx10 ? OKx15
        time_lag_method  ... markerx15
    allowed by the configuration
        end              6x2 7 8 10x4 12x4 14 16x5
        stable           endx2 6 end
        commit           5x3 7 9x4 11x4 13 15
        time_lag_method  ... allowedx5
    a consumer that commits behind markers
        end              6x2 7 8 10x4 12x4 14 16x5
        stable           endx2 6 end
        commit           6x3 8 10x4 12x4 14 16
        rests_seen       ?x18
        time_lag_method  ... nonex5
    """
)


@pytest.mark.parametrize("name", RESTS)
def test_a_consumer_that_rests_below_markers(name: str) -> None:
    RUNS.check(name)


# A quiet topic, of which the consumer has read all; then a transaction of seven records opens.
OPEN = split_strips(
    """
    held-up
        end                               2x3 9x40
        stable                            2
        commit                            2
        status                            OKx43
        status_reason                     ?x4 open_transactionx39
        lag                               0x3 7x40
        time_lag_seconds                  ... 2396
        scaling_lag                       0x43
        group.status                      OKx14 WARNx29
        group.held_status                 ?x2 OKx14 WARNx27
        group.cause                       ?x4 open_transactionx39
        group.status_reason               ?x4 open_transactionx39
        group.held_up_records             ?x4 7x39
        group.open_transaction_since      ?x4 3x39
        group.open_transaction_topic      ?x4 held-upx39
        group.open_transaction_partition  ?x4 0x39
        group.drain_seconds               ... 0
    held-up, then stuck
        end                  2x3 9x20 10x15
        stable               2x23 10
        commit               2
        status               OKx33 STALLx5
        group.status         OKx14 WARNx9 OKx10 ERRx5
        group.status_reason  ?x4 open_transactionx19 ?x15
    held-up, then read
        end          2x3 9x20 10x2
        stable       2x23 10
        commit       2x23 10
        pauses_seen  ?x25
        held_up_at   ?x3 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 ?x2
    by one and then by another
        end                           2x3 9x10 12x2
        stable                        2x13 10
        commit                        2x13 10
        group.held_up_records         ?x4 7x9 ? 2
        group.open_transaction_since  ?x4 3x9 ? 13
    by one that was begun behind another
        end                           2x3 9x5 12 13
        stable                        2x9 9
        commit                        2x9 9
        group.open_transaction_since  ?x4 3x5 8
    the oldest of two
        end                               2x6 9x6
        stable                            2
        commit                            2
        end.1                             2x3 9x9
        stable.1                          2
        commit.1                          2
        group.open_transaction_since      ?x4 3x8
        group.open_transaction_partition  ?x4 1x8
        group.held_up_records             ?x4 7x3 14x5
    lags behind the stable offset
        end                    2x3 9x20
        stable                 2
        commit                 2x3 1
        status                 OKx3 REWINDx11 STALLx9
        group.held_up_records  ?x23
    reads uncommitted records
        end                    2x3 9x5
        stable                 2
        commit                 2x3 9
        group.status_reason    ?x8
        group.held_up_records  ?x8
    behind a marker
        end               6x2 7 8 10x4 12x4 14 16x3 20x30
        stable            endx2 6 10 10x4 12x4 14 16
        commit            5x3 7 9x4 11x4 13 15
        status            ?x3 OKx43
        status_reason     ?x17 open_transactionx29
        time_lag_seconds  ... 1792
    stopped elsewhere
        end                    9
        stable                 4
        commit                 4
        owner                  -
        end.1                  9 +1x14
        stable.1               end
        commit.1               0
        owner.1                -
        status                 OKx15
        status.1               ... STOP
        group.status           ... ERR
        group.status_reason    ... ?
        group.held_up_records  ... 5
    7,000 records that nobody can read
        end                 2x3 7002x30
        stable              2
        commit              2
        group.tasks_needed  ... 0
        scaling_lag         ... 0
    7,000 records that somebody reads slowly
        end                 2x3 7002x30
        stable              end
        commit              2x3 +1
        group.tasks_needed  ... 1
        scaling_lag         ... 6970
    """
)


@pytest.mark.parametrize("name", OPEN)
def test_a_consumer_that_an_open_transaction_holds_up(name: str) -> None:
    RUNS.check(name)


# Topics without transactions: a consumer that commits the offset of its last record.
OFF_BY_ONE = split_strips(
    """
    off by one
        end                  2x6 3x6 4x6 5x30 6
        commit               1x6 2x6 3x6 4
        status               ?x6 OKx43
        status_reason        ?x18 off_by_onex31
        lag                  ... 1x30 2
        time_lag_seconds     ... 0x20 30
        time_lag_method      ... allowedx10 interpolated
        group.status_reason  ... off_by_onex5
        scaling_lag          ... 0 1
    off by one, three records at a time
        end            4x6 7x6 10x6 13x30
        commit         3x6 6x6 9x6 12
        status         ?x6 OKx42
        status_reason  ?x18 off_by_onex30
    off by one, then stuck
        end     2x6 3x6 4x6 5x30
        commit  1x6 2x6 3
        status  ?x6 OKx17 STALLx25
    off by one, then reads all
        end            2x6 3x6 4x6 5x6 6x6 7x15
        commit         1x6 2x6 3x6 5x6 6x6 6
        status         ?x6 OKx34 STALLx5
        status_reason  ?x45
    off by one, then leaves two
        end            2x6 3x6 4x6 5x6 6x6 7x15
        commit         1x6 2x6 3x6 3x6 4x6 6
        status         ?x6 OKx17 STALL OKx17 STALLx4
        status_reason  ?x24 off_by_onex6 ?x15
    """
)


@pytest.mark.parametrize("name", OFF_BY_ONE)
def test_a_consumer_that_commits_the_offset_of_its_last_record(name: str) -> None:
    RUNS.check(name)


# What was no lag is no loss once retention has emptied the log; what comes afterwards is.
EMPTIED = split_strips(
    """
    emptied below markers
        end                 6x2 7 8 11x4 14x4 17 20x4 20x2 23 23
        start               0x17 20x3 23
        stable              endx2 6 end
        commit              5x3 7 9x4 12x4 15 18
        status              ?x3 OKx17 ERR
        records_lost        0x20 3
        group.records_lost  0x20 3
    emptied off by one
        end           1x6 2x6 3x6 4x6 4x2 7 7
        start         0x24 4x3 7
        commit        0x6 1x6 2x6 3
        status        ?x6 OKx21 ERR
        records_lost  0x27 3
    allowed and emptied
        end           5x2 5x2 8 8
        start         0x2 5x3 8
        commit        4
        status        OKx5 ERR
        records_lost  0x5 4
    """
)


@pytest.mark.parametrize("name", EMPTIED)
def test_a_log_that_retention_empties(name: str) -> None:
    RUNS.check(name)


def busy_and_quiet(seed: int) -> str:
    """A strip of 70 runs: transactions one after another, then none, in turn; each
    seventh run may see one open.
    """
    rng, end, lines = np.random.default_rng([37, seed]), 0, list[tuple[int, int, int]]()
    commit = 0
    while len(lines) < 70:
        for _ in range(int(rng.integers(1, 8))):
            for _ in range(int(rng.integers(1, 20))):
                end += int(rng.integers(1, 20)) + 1
                commit = end - 1
            is_open = len(lines) % 7 == 0
            lines.append((end + is_open, end, commit))
            end += 2 * is_open
            commit = end - 1
        lines += [(end, end, commit)] * int(rng.integers(4, 20))
    names = ("end", "stable", "commit")
    columns = zip(*lines[:70], strict=True)
    return "\n".join(
        f"{name} {' '.join(map(str, each))}" for name, each in zip(names, columns, strict=True)
    )


BUSY = {f"busy and quiet {seed}": busy_and_quiet(seed) for seed in range(6)}


@pytest.mark.parametrize("name", BUSY)
def test_a_group_is_ok_once_two_rests_are_known(name: str) -> None:
    seen, statuses = RUNS.said(name, "rests_seen"), RUNS.said(name, "status")
    known = [status for number, status in zip(seen, statuses, strict=True) if number == 2]
    assert len(known) > 20
    assert set(known) == {OK}


RUNS = Strips(
    {**RESTS, **OPEN, **OFF_BY_ONE, **EMPTIED, **BUSY},
    rules=Rules(
        allowed_lag=ByName.of([("^allowed", 1)]),
        tasks=ByName.of([("^7,000", TaskSettings(capacity=20.0))]),
    ),
)
