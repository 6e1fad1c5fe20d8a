# SPDX-License-Identifier: Apache-2.0
"""Explicit schemas, so that no run depends on which file is read first.

`cluster` and `dt` are folder names in snapshots and reports and therefore in no schema here.
"""

from kafka_lag_report.schemas.reports import REPORTS
from kafka_lag_report.schemas.snapshots import SNAPSHOTS
from kafka_lag_report.schemas.types import CLUSTER, STRING

__all__ = ["CLUSTER", "REPORTS", "SNAPSHOTS", "STRING"]
