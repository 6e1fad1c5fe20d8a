# SPDX-License-Identifier: Apache-2.0
"""How unevenly a topic's partitions share lag, and production, how long, and why lag is skewed.

Lag and production are judged apart by the rule of `skew`. The cause is where the excess over the
mean sits; the first that explains it:

- `stalled`, `stopped`: on partitions whose commit stood while most of their lag was there, with an
  owner or without one.
- `production`: on partitions that got far more than their share of records (keys).
- `broker`: on the partitions of one leader; `consumer`: on those of one member. Either must hold
  most of the excess (recall), and most of its partitions must be in excess (precision): a broker
  that leads five quiet partitions and a late one is not the cause. Nor is a broker under which no
  other group lags: what it does to one it does to all. A consumer that fits comes in its place.
- `unexplained`: anything else, as where each partition has a leader and a member of its own. Where
  a broker of several partitions fits and is the cause of nobody else's lag, it is named all the
  same: that these have one leader is what is known of them.
"""

from collections.abc import Sequence

from pyspark.sql import DataFrame

from kafka_lag_report.aggregates import group_partition_days, records_produced
from kafka_lag_report.findings import STALLED, STOPPED
from kafka_lag_report.segments import GROUP_TOPIC, TOPIC
from kafka_lag_report.skew import (
    IS_SKEWED,
    SUMS_OF_PLACED,
    grouped,
    measures,
    placed,
    spread,
    with_columns,
)
from kafka_lag_report.thresholds import LAG_EXCESS, MOST, SKEW_FACTOR

# A sum of doubles may miss a value by its last digits, and by others in another order.
_ENOUGH = f"{MOST - 1e-9}D"
_DIGITS = 9

_OF_TOPIC = "PARTITION BY consumer_group, topic"
_OF_LEADER = f"{_OF_TOPIC}, leader"
_OF_MEMBER = f"{_OF_TOPIC}, member_id, client_id, client_host"


def partition_skew(
    segments: DataFrame,
    runs: DataFrame,
    topic_segments: DataFrame,
    topic_runs: DataFrame,
) -> DataFrame:
    """One row per group and topic; see `measures` for lag_* and production_*.

    Lag counts at its mean over the day, production in records of the day. production_* is the
    topic's own and repeats for each of its groups; null when the topic itself was never read.
    `cause` is null where a topic's lag is not skewed. Unknown production names nobody, nor is a
    partition without a leader or an owner anybody's.
    """
    made = records_produced(topic_segments)
    return (
        _explained_topics(_with_causes(_with_fits(group_partition_days(segments), made)))
        .join(_skewed_minutes(runs, GROUP_TOPIC, "lag"), [*GROUP_TOPIC])
        .join(spread(made, TOPIC, "produced", "production"), [*TOPIC], "left")
        .join(_skewed_minutes(topic_runs, TOPIC, "production"), [*TOPIC], "left")
    )


def _with_fits(days: DataFrame, made: DataFrame) -> DataFrame:
    """The partitions `placed`, with each one's `share` of its topic's excess over the mean lag.

    And how well its leader, and its member, explain that: recall is the part of the excess on their
    partitions, precision the part of these that are in excess.
    """
    production = with_columns(made, {"mean_produced": "avg(produced) OVER (PARTITION BY topic)"})
    rows = with_columns(days, placed("mean_lag", GROUP_TOPIC))
    rows = with_columns(
        rows.join(production, ["topic", "partition_id"], "left"),
        {
            "over_produced": "coalesce("
            f"mean_produced > 0 AND produced >= {SKEW_FACTOR}D * mean_produced, false)",
            "excess": f"IF({IS_SKEWED} AND x IS NOT NULL,"
            " greatest(x - try_divide(total, n), 0D), NULL)",
            # of a group that lags more under this leader than under all
            "lags_here": "IF(avg(x) OVER (PARTITION BY consumer_group, leader)"
            f" - avg(x) OVER (PARTITION BY consumer_group) >= {LAG_EXCESS}D, consumer_group, NULL)",
        },
    )
    rows = with_columns(
        rows,
        {
            "share": f"try_divide(excess, sum(excess) OVER ({_OF_TOPIC}))",
            "late": "excess > 1e-9D * try_divide(total, n)",
            "lags_for_others": "coalesce("
            "min(lags_here) OVER (PARTITION BY leader) <> consumer_group"
            " OR max(lags_here) OVER (PARTITION BY leader) <> consumer_group, false)",
        },
    )
    return with_columns(rows, {**_fit("leader", _OF_LEADER), **_fit("member", _OF_MEMBER)})


def _fit(owner: str, of: str) -> dict[str, str]:
    partitions = f"count(excess) OVER ({of})"
    return {
        f"{owner}_n": partitions,
        f"{owner}_recall": f"sum(share) OVER ({of})",
        f"{owner}_precision": f"try_divide(count_if(late) OVER ({of}), {partitions})",
    }


def _with_causes(fits: DataFrame) -> DataFrame:
    """With the topic's `cause`, and the `broker` and `consumer` that explain it best, if any do."""
    rows = with_columns(
        fits,
        {
            "leader_score": _score("leader", "leader"),
            "member_score": _score("member", "member_id"),
        },
    )
    rows = with_columns(
        rows,
        {
            "broker": _best("leader", ("leader",), "lags_for_others"),
            "consumer": _best("member", ("member_id", "client_id", "client_host")),
            "over_produced_share": f"sum(IF(over_produced, share, 0D)) OVER ({_OF_TOPIC})",
            "stalled": f"sum(IF(stands = '{STALLED}', share, 0D)) OVER ({_OF_TOPIC})",
            "stopped": f"sum(IF(stands = '{STOPPED}', share, 0D)) OVER ({_OF_TOPIC})",
        },
    )
    rows = with_columns(rows, {"best_fit": _BEST_FIT})
    rows = with_columns(rows, {"cause": _CAUSE})
    return with_columns(rows, {"is_led": _IS_LED})


def _score(owner: str, name: str) -> str:
    """How well the owner of that `name` explains the excess; null: not most of it."""
    recall, precision = f"{owner}_recall", f"{owner}_precision"
    return (
        f"IF({recall} >= {_ENOUGH} AND {precision} >= {_ENOUGH}"
        f" AND {name} IS NOT NULL AND excess IS NOT NULL,"
        f" round({recall} * {precision}, {_DIGITS}), NULL)"
    )


def _best(owner: str, names: Sequence[str], *more: str) -> str:
    """A struct of the topic's owner that explains its excess best; null: none does."""
    fields = ", ".join((*names, *more))
    return (
        f"first(IF({owner}_score IS NULL, NULL,"
        f" struct({owner}_score AS score, {owner}_n AS n, {fields})))"
        f" OVER ({_OF_TOPIC}"
        f" ORDER BY {owner}_score DESC NULLS LAST, {owner}_n DESC, {', '.join(names)})"
    )


_BEST_FIT = f"""
CASE
    WHEN NOT coalesce({IS_SKEWED}, false) THEN NULL
    WHEN stalled + stopped >= {_ENOUGH} THEN IF(stopped > stalled, '{STOPPED}', '{STALLED}')
    WHEN over_produced_share >= {_ENOUGH} THEN 'production'
    WHEN broker IS NULL AND consumer IS NULL THEN 'unexplained'
    WHEN broker IS NULL THEN 'consumer'
    WHEN consumer IS NULL THEN 'broker'
    WHEN broker.score <> consumer.score
        THEN IF(broker.score > consumer.score, 'broker', 'consumer')
    WHEN broker.n <> consumer.n THEN IF(broker.n > consumer.n, 'broker', 'consumer')
    WHEN broker.n > 1 THEN 'broker'
    ELSE 'unexplained'
END"""

# Of a single partition broker and consumer cannot be distinguished: neither is named.
_CAUSE = """
IF(
    best_fit = 'broker' AND NOT broker.lags_for_others,
    IF(consumer IS NOT NULL AND greatest(broker.n, consumer.n) > 1, 'consumer', 'unexplained'),
    best_fit
)"""

# The excess is on one broker's partitions, be it the cause or not.
_IS_LED = "cause = 'broker' OR (cause = 'unexplained' AND broker.n > 1)"

_EXPLAINS = f"""
late AND CASE
    WHEN cause IN ('{STALLED}', '{STOPPED}') THEN stands IS NOT NULL
    WHEN cause = 'production' THEN over_produced
    WHEN is_led THEN leader = broker.leader
    WHEN cause = 'consumer'
        THEN member_id <=> consumer.member_id
            AND client_id <=> consumer.client_id AND client_host <=> consumer.client_host
    ELSE true
END"""

# Of all that stand still the owner, if it is one.
_MEMBER = f"""
CASE
    WHEN cause = 'consumer'
        THEN struct(consumer.member_id, consumer.client_id, consumer.client_host)
    WHEN explains AND cause = '{STALLED}' THEN struct(member_id, client_id, client_host)
END"""


def _explained_topics(causes: DataFrame) -> DataFrame:
    """A row for each group's topic, with the partitions that its cause explains."""
    rows = with_columns(causes, {"explains": _EXPLAINS})
    topics = grouped(
        with_columns(rows, {"member": _MEMBER}),
        GROUP_TOPIC,
        {
            **SUMS_OF_PLACED,
            "cause": "max(cause)",
            "explaining": "sort_array(collect_list(partition_id) FILTER (WHERE explains))",
            "cause_leader": "max(broker.leader) FILTER (WHERE is_led)",
            "member": "IF(min(member) = max(member), max(member), NULL)",
        },
    )
    columns = {
        **measures("lag"),
        "cause": "cause",
        "cause_partitions": "IF(cause IS NULL, NULL, explaining)",
        "cause_leader": "cause_leader",
        "cause_member": "member.member_id",
        "cause_client_id": "member.client_id",
        "cause_client_host": "member.client_host",
    }
    return topics.selectExpr(*GROUP_TOPIC, *(f"{sql} AS {name}" for name, sql in columns.items()))


def _skewed_minutes(runs: DataFrame, keys: Sequence[str], prefix: str) -> DataFrame:
    """Minutes for which the runs stand that were skewed; null where no run knew."""
    minutes = "sum(IF(skewed, weight / 60, 0D)) FILTER (WHERE skewed IS NOT NULL)"
    return grouped(runs, keys, {f"{prefix}_skewed_minutes": minutes})
