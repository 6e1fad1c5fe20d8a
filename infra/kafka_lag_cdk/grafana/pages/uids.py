# SPDX-License-Identifier: Apache-2.0
"""What pages are known by, in links, file names and a second import."""

from __future__ import annotations

OVERVIEW, GROUP, BROKERS = "clusters", "group", "brokers"
_PREFIX = "kafka-lag"


def uid_of(page: str, source: str) -> str:
    """`kafka-lag-<page>-<source>`; Grafana takes 40 characters."""
    return f"{_PREFIX}-{page}-{source}"
