# SPDX-License-Identifier: Apache-2.0
"""Two minutes of the fault campaign: `make faults` runs it longer."""

import json

import pytest

from dev.faults.__main__ import document
from dev.faults.campaign import Campaign, Options
from dev.kafka import CONSUMER_PROTOCOL
from tests.kafka.looking import Row
from tests.kafka_versions import needs

pytestmark = pytest.mark.kafka


@needs(CONSUMER_PROTOCOL)
@pytest.mark.timeout(900)
def test_no_number_is_wrong_while_brokers_networks_and_stores_fail() -> None:
    options = Options(minutes=2.0, seed=16, protocol="SASL_SSL")
    result = Campaign(options, print).run()
    assert result.good, _findings(document(result))
    assert result.checked.total() > 30_000
    assert result.faults.total() > 3


def _findings(found: Row) -> str:
    """What was wrong before how much was right: what a test prints may be cut."""
    first = ("errors", "lacking", "late", "wrong", "unsure")
    rest = [name for name in found if name not in (*first, "first_runs", "not_judged")]
    return json.dumps({name: found[name] for name in (*first, *rest)}, indent=1)[:20_000]
