# SPDX-License-Identifier: Apache-2.0
"""What is said of a collector's document that is refused."""

from __future__ import annotations

from typing import Any

from kafka_lag_cdk.config.document import normalised
from kafka_lag_cdk.config.faults import ConfigurationError
from tests.documents import GOOD


def document_faults(**changes: Any) -> list[str]:
    """The faults of a good document of a collector with these changes."""
    try:
        normalised({**GOOD, **changes})
    except ConfigurationError as error:
        return list(error.faults)
    return []
