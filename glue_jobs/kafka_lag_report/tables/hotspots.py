# SPDX-License-Identifier: Apache-2.0
"""Who holds more lag than its part of the partitions explains: brokers, and members of groups."""

from pyspark.sql import DataFrame

from kafka_lag_report.schemas import BROKER_HOTSPOTS, CONSUMER_HOTSPOTS
from kafka_lag_report.skew import grouped, with_columns
from kafka_lag_report.thresholds import HOT_FACTOR, LAG_EXCESS

# Sums of doubles may miss a whole share by their last digits.
_ROUNDING = "1e-9D"

_LEADER, _GROUP = "leader", "consumer_group"
_MEMBER = ("client_host", "client_id", "member_id")
_PARTITION = (_GROUP, "topic", "partition_id")
# Of a partition's runs, and of its mean lag, what was its owner's.
_OF_PARTITION = f"OVER (PARTITION BY {', '.join(_PARTITION)})"
_PART = f"try_divide(reads, sum(reads) {_OF_PARTITION})"
_LAG_PART = f"try_divide(lag_sum, sum(lags) {_OF_PARTITION})"


def broker_hotspots(segments: DataFrame, topic_segments: DataFrame) -> DataFrame:
    """A row per leader and rack; null `leader`: while partitions had none.

    A partition whose leader changed counts for each by its part of the runs, and `produced` by what
    each run saw. Lag is known by leader only: of several racks the newest has it all. A leader that
    only groups' partitions name has no rack and led nothing.
    """
    # few rows and one task: no shuffle for each of the steps that follow
    led = _led(topic_segments.coalesce(1))
    lag = _lag(segments.coalesce(1))
    known = led.unionByName(lag, allowMissingColumns=True).coalesce(1)
    placed = with_columns(
        known,
        {
            # 1 for a leader's newest rack; the row of its lag comes last, as it has no time
            "place": "row_number() OVER (PARTITION BY leader"
            " ORDER BY last_at DESC NULLS LAST, leader_rack NULLS LAST)",
            "lag": "sum(lag_part) OVER (PARTITION BY leader)",
        },
    )
    brokers = placed.where("place = 1 OR last_at IS NOT NULL").selectExpr(
        _LEADER,
        "leader_rack",
        "produced",
        "coalesce(partitions_led, 0D) AS partitions_led",
        # 0 for a leader that nobody lags behind; null when none is known in the whole cluster
        "IF(max(lag) OVER () IS NULL, NULL, IF(place = 1, coalesce(lag, 0D), 0D)) AS lag_mean",
    )
    shares = with_columns(
        brokers,
        {
            "partitions_share": _share("partitions_led"),
            "produce_share": _share("produced"),
            "lag_share": _share("lag_mean"),
        },
    )
    return _judged(shares).select(*BROKER_HOTSPOTS.names)


def consumer_hotspots(segments: DataFrame) -> DataFrame:
    """A row per group and member; null `member_id`: while nobody owned the partitions.

    A partition that changed hands counts for each owner by its part of the runs, and `consumed` by
    what each run saw. `lag_mean` is null where no lag was known while the member owned anything.
    Nobody is hot who was alone whenever it owned anything.
    """
    owned = grouped(
        segments,
        (*_PARTITION, *_MEMBER),
        {
            **{name: f"sum({name})" for name in ("reads", "lags", "lag_sum", "consumed")},
            "since": "min(first_at)",
            "until": "max(last_at)",
        },
    )
    members = grouped(
        with_columns(owned, {"part": _PART, "lag_part": _LAG_PART}),
        (_GROUP, *_MEMBER),
        {
            "partitions_owned": "sum(part)",
            "consumed": "sum(consumed)",
            "lag_mean": "sum(lag_part)",
            "since": "min(since)",
            "until": "max(until)",
        },
    )
    by_start = "PARTITION BY consumer_group ORDER BY since"
    shares = with_columns(
        members,
        {
            # whether anybody else owned partitions between its first and last sight
            "beside": f"coalesce(max(until) OVER ({by_start}"
            " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) >= since, false)"
            f" OR coalesce(min(since) OVER ({by_start}"
            " ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) <= until, false)",
            "partitions_share": _share("partitions_owned", _GROUP),
            "lag_share": _share("lag_mean", _GROUP),
        },
    )
    judged = _judged(shares, _GROUP)
    # an owner before a restart and the one after it were never there together
    names = [name for name in CONSUMER_HOTSPOTS.names if name != "hot"]
    return judged.selectExpr(*names, "hot AND beside AS hot")


def _led(topic_segments: DataFrame) -> DataFrame:
    partition = "PARTITION BY topic, partition_id"
    parts = with_columns(
        topic_segments, {"part": f"try_divide(reads, sum(reads) OVER ({partition}))"}
    )
    sums = {
        "partitions_led": "sum(part)",
        "produced": "sum(produced)",
        "last_at": "max(last_at)",
    }
    return grouped(parts, (_LEADER, "leader_rack"), sums)


def _lag(segments: DataFrame) -> DataFrame:
    parts = with_columns(segments, {"part": _LAG_PART})
    return grouped(parts, (_LEADER,), {"lag_part": "sum(part)"})


def _share(name: str, of: str = "") -> str:
    """This row's part of the sum over all rows alike in `of`; null when the sum is 0."""
    return f"try_divide({name}, sum({name}) OVER ({_alike(of)}))"


def _alike(of: str) -> str:
    return f"PARTITION BY {of}" if of else ""


def _judged(owners: DataFrame, of: str = "") -> DataFrame:
    """`lag_to_partitions`, `lag_to_others`, and who is `hot` among all rows alike in `of`.

    `lag_to_partitions` is 1 for lag like everybody's, and at most the number of owners. So hot is
    measured against the others: HOT_FACTOR times their lag a partition (`lag_to_others`; null where
    they have no partition or no lag, and then all lag is here), and a mean lag of LAG_EXCESS
    records above the mean of all, as a share of next to nothing says nothing.
    """
    rows = with_columns(
        owners,
        {
            "above": f"lag_mean - avg(lag_mean) OVER ({_alike(of)}) >= {LAG_EXCESS}D",
            "lag_to_partitions": "try_divide(lag_share, partitions_share)",
            "others": "try_divide(1 - lag_share, 1 - partitions_share)",
        },
    )
    to_others = f"IF(others > {_ROUNDING}, try_divide(lag_to_partitions, others), NULL)"
    hot = f"(coalesce(others <= {_ROUNDING}, false) OR lag_to_others >= {HOT_FACTOR}D) AND above"
    return with_columns(with_columns(rows, {"lag_to_others": to_others}), {"hot": hot})
