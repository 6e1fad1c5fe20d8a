# SPDX-License-Identifier: Apache-2.0
"""Some minutes of the fault campaign: `make faults` runs it longer."""

import json
import os

import pytest

from dev.faults.__main__ import document
from dev.faults.campaign import Campaign, Options

pytestmark = pytest.mark.kafka

# Beside other tests a run waits for its turn on the processor, too.
_MARGIN = 5.0


@pytest.mark.skipif(
    "KAFKA_LAG_CAMPAIGN" not in os.environ,
    reason="KAFKA_LAG_CAMPAIGN is not set: faults come at other moments in each run",
)
@pytest.mark.timeout(900)
def test_no_number_is_wrong_while_brokers_networks_and_stores_fail() -> None:
    options = Options(minutes=3.0, seed=16, protocol="SASL_SSL", margin=_MARGIN)
    result = Campaign(options, print).run()
    found = document(result)
    assert result.good, json.dumps({**found, "first_runs": None}, indent=1)[:20_000]
    assert result.checked.total() > 50_000
    assert result.faults.total() > 5
