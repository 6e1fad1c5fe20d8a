# SPDX-License-Identifier: Apache-2.0
"""Explicit schemas, so that no run depends on which file is read first.

`cluster` and `dt` are folder names in snapshots and reports and therefore in no schema here.
"""

from glue_jobs.schemas.reports import REPORTS
from glue_jobs.schemas.snapshots import SNAPSHOTS
from glue_jobs.schemas.types import CLUSTER, STRING

__all__ = ["CLUSTER", "REPORTS", "SNAPSHOTS", "STRING"]
