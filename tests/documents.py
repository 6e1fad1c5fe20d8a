# SPDX-License-Identifier: Apache-2.0
"""A collector's configuration for tests: the smallest one, and the form that a function reads."""

from __future__ import annotations

from typing import Any

from kafka_lag_config.document import normalised

GOOD: dict[str, Any] = {
    "cluster": "shop",
    "bootstrap_servers": ["b-1.shop:9096"],
    "secret_id": "AmazonMSK_reporter",
}


def document(**changes: Any) -> dict[str, Any]:
    """The least document with these changes, normalised."""
    found: dict[str, Any] = normalised({**GOOD, **changes})
    return found
