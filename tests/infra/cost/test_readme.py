# SPDX-License-Identifier: Apache-2.0
"""What the README says that it costs is what that example costs."""

from __future__ import annotations

import re
from pathlib import Path

from kafka_lag_cdk.config.reading import read
from kafka_lag_cdk.cost.cost import cost_of, sum_usd
from tests.infra.cost.documents import PRICES

ROOT = Path(__file__).parents[3]


def test_the_readme_has_the_cost_of_its_first_example() -> None:
    text = (ROOT / "README.md").read_text().split("## What it costs")[1]
    in_readme = {int(number) for number in re.findall(r"\$(\d+)", text)}
    example = read("examples/one-scram-cluster.json", ROOT)
    cost = cost_of(example, PRICES)
    (region,) = cost.regions
    (cluster,) = region.clusters
    metrics = sum_usd(x for x in cluster.lines if x.service == "CloudWatch metrics")
    watching = ("CloudWatch alarms", "CloudWatch dashboard")
    alarms = sum_usd(x for x in cluster.lines if x.service in watching)
    runs = cluster.usd - metrics - alarms
    no_topics = example.clusters[0].levels.model_copy(update={"topics": False})
    less = example.clusters[0].model_copy(update={"levels": no_topics})
    without_topics = cost_of(example.model_copy(update={"clusters": (less,)}), PRICES).usd
    assert region.msk_level
    computed = (cost.usd, metrics, alarms, runs, cost.usd - cluster.usd, without_topics)
    assert {round(each) for each in (*computed, region.msk_level.usd)} <= in_readme
