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

from pyspark.sql import DataFrame

from kafka_lag_report.aggregates import (
    GROUP_TOPIC,
    TOPIC,
    group_partition_days,
    records_produced,
)
from kafka_lag_report.findings import STALLED, STOPPED
from kafka_lag_report.skew import IS_SKEWED, SUMS_OF_PLACED, measures, placed, spread
from kafka_lag_report.thresholds import LAG_EXCESS, MOST, SKEW_FACTOR

# A sum of doubles may miss a value by its last digits, and by others in another order.
_ENOUGH = f"{MOST - 1e-9}D"
_DIGITS = 9

_LAG = f"""
WITH placed AS (SELECT *, {placed("mean_lag", GROUP_TOPIC)} FROM {{days}}),
production AS (
    SELECT *, avg(produced) OVER (PARTITION BY topic) AS mean_produced FROM {{made}}
),
partitions AS (
    SELECT
        placed.*,
        coalesce(
            mean_produced > 0 AND produced >= {SKEW_FACTOR}D * mean_produced, false
        ) AS over_produced,
        IF({IS_SKEWED} AND x IS NOT NULL, greatest(x - try_divide(total, n), 0D), NULL) AS excess,
        -- of a group that lags more under this leader than under all
        IF(
            avg(x) OVER (PARTITION BY consumer_group, leader)
            - avg(x) OVER (PARTITION BY consumer_group) >= {LAG_EXCESS}D,
            consumer_group, NULL
        ) AS lags_here
    FROM placed
    LEFT JOIN production USING (topic, partition_id)
),
shares AS (
    SELECT
        *,
        try_divide(excess, sum(excess) OVER of_topic) AS share,
        excess > 1e-9D * try_divide(total, n) AS late,
        coalesce(
            min(lags_here) OVER led_alike <> consumer_group
            OR max(lags_here) OVER led_alike <> consumer_group, false
        ) AS lags_for_others
    FROM partitions
    WINDOW
        of_topic AS (PARTITION BY consumer_group, topic),
        led_alike AS (PARTITION BY leader)
),
-- recall: the part of the excess on these partitions; precision: the part of them in excess
fits AS (
    SELECT
        *,
        count(excess) OVER same_leader AS leader_n,
        sum(share) OVER same_leader AS leader_recall,
        try_divide(count_if(late) OVER same_leader, count(excess) OVER same_leader)
            AS leader_precision,
        count(excess) OVER same_member AS member_n,
        sum(share) OVER same_member AS member_recall,
        try_divide(count_if(late) OVER same_member, count(excess) OVER same_member)
            AS member_precision
    FROM shares
    WINDOW
        same_leader AS (PARTITION BY consumer_group, topic, leader),
        same_member AS (
            PARTITION BY consumer_group, topic, member_id, client_id, client_host
        )
),
scored AS (
    SELECT
        *,
        IF(
            leader_recall >= {_ENOUGH} AND leader_precision >= {_ENOUGH}
            AND leader IS NOT NULL AND excess IS NOT NULL,
            round(leader_recall * leader_precision, {_DIGITS}), NULL
        ) AS leader_score,
        IF(
            member_recall >= {_ENOUGH} AND member_precision >= {_ENOUGH}
            AND member_id IS NOT NULL AND excess IS NOT NULL,
            round(member_recall * member_precision, {_DIGITS}), NULL
        ) AS member_score
    FROM fits
),
-- the leader and the member that explain a topic's excess best; null: none does
best AS (
    SELECT
        *,
        first(
            IF(leader_score IS NULL, NULL,
                struct(leader_score AS score, leader_n AS n, leader, lags_for_others))
        ) OVER (
            PARTITION BY consumer_group, topic
            ORDER BY leader_score DESC NULLS LAST, leader_n DESC, leader
        ) AS broker,
        first(
            IF(member_score IS NULL, NULL,
                struct(member_score AS score, member_n AS n, member_id, client_id, client_host))
        ) OVER (
            PARTITION BY consumer_group, topic
            ORDER BY member_score DESC NULLS LAST, member_n DESC, member_id, client_id, client_host
        ) AS consumer,
        sum(IF(over_produced, share, 0D)) OVER of_topic AS over_produced_share,
        sum(IF(stands = '{STALLED}', share, 0D)) OVER of_topic AS stalled,
        sum(IF(stands = '{STOPPED}', share, 0D)) OVER of_topic AS stopped
    FROM scored
    WINDOW of_topic AS (PARTITION BY consumer_group, topic)
),
found AS (
    SELECT
        *,
        CASE
            WHEN NOT coalesce({IS_SKEWED}, false) THEN NULL
            WHEN stalled + stopped >= {_ENOUGH}
                THEN IF(stopped > stalled, '{STOPPED}', '{STALLED}')
            WHEN over_produced_share >= {_ENOUGH} THEN 'production'
            WHEN broker IS NULL AND consumer IS NULL THEN 'unexplained'
            WHEN broker IS NULL THEN 'consumer'
            WHEN consumer IS NULL THEN 'broker'
            WHEN broker.score <> consumer.score
                THEN IF(broker.score > consumer.score, 'broker', 'consumer')
            WHEN broker.n <> consumer.n THEN IF(broker.n > consumer.n, 'broker', 'consumer')
            WHEN broker.n > 1 THEN 'broker'
            ELSE 'unexplained'
        END AS best_fit
    FROM best
),
judged AS (
    SELECT
        *,
        -- of a single partition broker and consumer cannot be distinguished: neither is named
        IF(
            best_fit = 'broker' AND NOT broker.lags_for_others,
            IF(
                consumer IS NOT NULL AND greatest(broker.n, consumer.n) > 1,
                'consumer', 'unexplained'
            ),
            best_fit
        ) AS cause
    FROM found
),
-- the excess is on one broker's partitions, be it the cause or not
led AS (
    SELECT *, cause = 'broker' OR (cause = 'unexplained' AND broker.n > 1) AS is_led FROM judged
),
explained AS (
    SELECT
        *,
        late AND CASE
            WHEN cause IN ('{STALLED}', '{STOPPED}') THEN stands IS NOT NULL
            WHEN cause = 'production' THEN over_produced
            WHEN is_led THEN leader = broker.leader
            WHEN cause = 'consumer'
                THEN member_id <=> consumer.member_id
                    AND client_id <=> consumer.client_id AND client_host <=> consumer.client_host
            ELSE true
        END AS explains
    FROM led
),
-- of all that stand still the owner, if it is one
named AS (
    SELECT
        *,
        CASE
            WHEN cause = 'consumer'
                THEN struct(consumer.member_id, consumer.client_id, consumer.client_host)
            WHEN explains AND cause = '{STALLED}' THEN struct(member_id, client_id, client_host)
        END AS member
    FROM explained
),
topics AS (
    SELECT
        consumer_group, topic,
        {SUMS_OF_PLACED},
        max(cause) AS cause,
        sort_array(collect_list(partition_id) FILTER (WHERE explains)) AS explaining,
        max(broker.leader) FILTER (WHERE is_led) AS cause_leader,
        IF(min(member) = max(member), max(member), NULL) AS member
    FROM named
    GROUP BY consumer_group, topic
)
SELECT
    consumer_group, topic,
    {measures("lag")},
    cause,
    IF(cause IS NULL, NULL, explaining) AS cause_partitions,
    cause_leader,
    member.member_id AS cause_member,
    member.client_id AS cause_client_id,
    member.client_host AS cause_client_host
FROM topics
"""  # noqa: S608 - of our own words and limits

_REPORT = """
SELECT *
FROM {lag}
JOIN {lag_minutes} USING (consumer_group, topic)
LEFT JOIN {production} USING (topic)
LEFT JOIN {production_minutes} USING (topic)
"""


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
    made, sql = records_produced(topic_segments), segments.sparkSession.sql
    return sql(
        _REPORT,
        lag=sql(_LAG, days=group_partition_days(segments), made=made),
        lag_minutes=_skewed_minutes(runs, GROUP_TOPIC, "lag"),
        production=spread(made, TOPIC, "produced", "production"),
        production_minutes=_skewed_minutes(topic_runs, TOPIC, "production"),
    )


def _skewed_minutes(runs: DataFrame, keys: tuple[str, ...], prefix: str) -> DataFrame:
    """Minutes for which the runs stand that were skewed; null where no run knew."""
    by = ", ".join(keys)
    query = f"""
    SELECT
        {by},
        sum(IF(skewed, weight / 60, 0D)) FILTER (WHERE skewed IS NOT NULL)
            AS {prefix}_skewed_minutes
    FROM {{runs}}
    GROUP BY {by}"""  # noqa: S608 - of our own words
    return runs.sparkSession.sql(query, runs=runs)
