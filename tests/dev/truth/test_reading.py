# SPDX-License-Identifier: Apache-2.0
"""What the brokers' request log and Kafka's own tool print."""

from collections import Counter

from dev.truth.kafka_tool import rows_by_group_and_topic
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


def test_requests_are_counted_by_client_and_name() -> None:
    found: dict[str, Counter[str]] = {}
    for client in ("kminion", "kminion", "klag", "klag-2", "klag-exporter"):
        count_line(LINE % client, found)
    count_line("WARN something else", found)

    assert requests_of("kminion", found) == {"LIST_OFFSETS": 2}
    assert requests_of("klag", found) == {"LIST_OFFSETS": 2}
    assert requests_of("burrow", found) == {}


def test_rows_of_the_tool_are_cut_behind_the_lag_and_others_left_out() -> None:
    rows = rows_by_group_and_topic(SHOWN)

    assert rows == {("a", "t"): ["a t 0 500 100 -400", "a t 1 - 100 -"]}


def test_no_scenarios_share_a_topic() -> None:
    names = [each.name for each in SCENARIOS]

    assert len(set(names)) == len(names)
    assert len({each.title for each in SCENARIOS}) == len(names)
