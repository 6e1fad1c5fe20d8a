# SPDX-License-Identifier: Apache-2.0
"""Every report once more, in DuckDB SQL over the raw snapshots, to hold against the job's."""

from dev.report_check.differences import compare
from dev.report_check.queries import prepare, report, run, written

__all__ = ["compare", "prepare", "report", "run", "written"]
