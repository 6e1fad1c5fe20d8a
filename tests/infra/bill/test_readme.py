# SPDX-License-Identifier: Apache-2.0
"""What the README says that it costs is what the bill of that example says."""

from __future__ import annotations

import re
from pathlib import Path

from kafka_lag_cdk.bill.lines import bill_of
from kafka_lag_cdk.bill.prices import price_lists
from kafka_lag_cdk.config.reading import read

ROOT = Path(__file__).parents[3]


def told() -> list[int]:
    """Dollars of the paragraph: all, metrics, alarms with the dashboard, runs, what is shared."""
    text = (ROOT / "README.md").read_text().split("## What it costs")[1]
    return [int(number) for number in re.findall(r"\$(\d+)", text)][:5]


def test_the_readme_tells_the_bill_of_its_first_example() -> None:
    bill = bill_of(read("examples/one-scram-cluster.json", ROOT), price_lists())
    (place,) = bill.places
    (cluster,) = place.clusters
    parts = {"CloudWatch metrics": 0.0, "CloudWatch alarms": 0.0, "": 0.0}
    for line in cluster.lines:
        service = line.item.service
        service = "CloudWatch alarms" if service == "CloudWatch dashboard" else service
        parts[service if service in parts else ""] += line.usd
    shared = bill.usd - cluster.usd
    assert told() == [round(each) for each in (bill.usd, *parts.values(), shared)]
