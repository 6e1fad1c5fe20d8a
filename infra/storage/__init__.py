# SPDX-License-Identifier: Apache-2.0
"""Where rows are kept and how they are asked for: bucket, catalog, queries, the daily job."""

from infra.storage.bucket import DataBucket
from infra.storage.catalog import Catalog
from infra.storage.daily_report import DailyReport
from infra.storage.named_queries import NamedQueries
from infra.storage.workgroup import Workgroup

__all__ = ["Catalog", "DailyReport", "DataBucket", "NamedQueries", "Workgroup"]
