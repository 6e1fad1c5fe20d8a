# SPDX-License-Identifier: Apache-2.0
"""All pages of all sources, as files to import."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kafka_lag import contract
from kafka_lag_cdk.grafana.measures import Source
from kafka_lag_cdk.grafana.model import Page
from kafka_lag_cdk.grafana.pages.brokers import known_logs, msk_brokers
from kafka_lag_cdk.grafana.pages.group import group_detail
from kafka_lag_cdk.grafana.pages.overview import overview
from kafka_lag_cdk.grafana.sources.cloudwatch import CloudWatch
from kafka_lag_cdk.grafana.sources.prometheus import Prometheus


def pages(namespace: str = contract.NAMESPACE) -> Iterator[Page]:
    """Three of each source; `namespace` is that of the metrics in CloudWatch."""
    sources: tuple[Source, ...] = (CloudWatch(namespace), Prometheus())
    for source in sources:
        yield overview(source)
        yield group_detail(source)
    yield msk_brokers()
    yield known_logs()


def files(namespace: str = contract.NAMESPACE) -> dict[str, str]:
    """File names and what is in them."""
    return {
        f"{page.uid}.json": json.dumps(page.document(), indent=2) + "\n"
        for page in pages(namespace)
    }
