# SPDX-License-Identifier: Apache-2.0
"""Where no sink publishes into CloudWatch, no alarm waits for what never comes."""

from __future__ import annotations

from kafka_lag_cdk.alarm_rules import HEARTBEAT, OF_REPORTER, PARSING, VALIDATION, reporter_rules


def test_all_rules_have_data_where_something_is_published() -> None:
    assert reporter_rules(paused=False, sinks={"emf"}) == OF_REPORTER


def test_a_paused_cluster_has_no_heartbeat_to_miss() -> None:
    assert set(OF_REPORTER) - set(reporter_rules(paused=True, sinks={"emf"})) == {HEARTBEAT}


def test_what_lambda_counts_is_watched_all_the_same() -> None:
    left = reporter_rules(paused=False, sinks=())
    assert [rule.namespace for rule in left] == ["AWS/Lambda", "AWS/Lambda"]


def test_without_embedded_metrics_nothing_watches_how_cloudwatch_reads_them() -> None:
    left = reporter_rules(paused=False, sinks={"cloudwatch"})
    assert set(OF_REPORTER) - set(left) == {PARSING, VALIDATION}
