# SPDX-License-Identifier: Apache-2.0
"""What the brokers' request log and Kafka's own tool print."""

from collections import Counter

import pytest

from dev.truth.__main__ import scenario_of
from dev.truth.kafka_tool import Description, Record, explain, record_in
from dev.truth.page import seconds
from dev.truth.programs import RIVALS
from dev.truth.requests import count_line, requests_of
from dev.truth.scenarios import SCENARIOS

LINE = (
    "[data-plane-kafka-network-thread-1] DEBUG kafka.request.logger - Completed request:"
    '{"isForwarded":false,"requestHeader":{"requestApiKey":2,"requestApiVersion":4,'
    '"correlationId":15,"clientId":"%s","requestApiKeyName":"LIST_OFFSETS"},"request":{}}'
)
SHOWN = """
Consumer group 'a' has no active members.

GROUP  TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG   CONSUMER-ID  HOST  CLIENT-ID
a      t      0          500             100             -400  -            -     -
a      t      1          -               100             -     -            -     -
a b c  t      0          1               1               0     -            -     -
"""
DESCRIBED = Description(SHOWN, 1_000.0)


def test_requests_are_counted_by_client_and_name() -> None:
    found: dict[str, Counter[str]] = {}
    for client in ("kminion", "kminion", "klag", "klag-2", "klag-exporter"):
        count_line(LINE % client, found)
    count_line("WARN something else", found)

    assert requests_of("kminion", found) == {"LIST_OFFSETS": 2}
    assert requests_of("klag", found) == {"LIST_OFFSETS": 2}
    assert requests_of("burrow", found) == {}


def test_rows_of_the_tool_are_cut_behind_the_lag() -> None:
    rows = DESCRIBED.rows("a", "t")

    assert [row.text for row in rows] == ["a t 0 500 100 -400", "a t 1 - 100 -"]
    assert [row.committed for row in rows] == [500, None]
    assert DESCRIBED.rows("a", "t", 1) == rows[1:]


def test_a_group_with_spaces_in_its_name_has_rows() -> None:
    assert [row.text for row in DESCRIBED.rows("a b c", "t")] == ["a b c t 0 1 1 0"]


def test_a_row_says_how_old_the_next_record_is() -> None:
    read = {0: Record(501, 940.0), 1: None}

    lines = explain(DESCRIBED.rows("a", "t"), 1_000.0, lambda row: read[row.partition], seconds)

    assert lines == [
        "`a t 0 500 100 -400`; record 501 is the next, 60 s old",
        "`a t 1 - 100 -`; it is given no record there",
    ]


@pytest.mark.parametrize(
    ("text", "record"),
    [
        ("CreateTime:1500\tOffset:7\n", Record(7, 1.5)),
        ("LogAppendTime:1500\tOffset:7\tnull\n", Record(7, 1.5)),
        ("Processed a total of 0 messages\n", None),
    ],
)
def test_the_console_consumer_shows_offset_and_time(text: str, record: Record | None) -> None:
    assert record_in(text) == record


def test_a_topic_belongs_to_the_scenario_with_the_longest_name() -> None:
    names = ["truth-hung", "truth-hung-beside"]

    assert scenario_of("truth-hung-beside", names) == "truth-hung-beside"
    assert scenario_of("truth-hung-old", names) == "truth-hung"
    assert scenario_of("truth-hunger", names) == ""


def test_each_program_has_a_name_and_a_client_of_its_own() -> None:
    assert len({each.name for each in RIVALS}) == len(RIVALS)
    assert len({each.client_id for each in RIVALS}) == len(RIVALS)


def test_no_scenarios_share_a_topic() -> None:
    names = [each.name for each in SCENARIOS]

    assert len(set(names)) == len(names)
    assert len({each.title for each in SCENARIOS}) == len(names)
