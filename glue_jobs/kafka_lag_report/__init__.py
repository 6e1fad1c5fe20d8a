# SPDX-License-Identifier: Apache-2.0
"""The daily report: a day of snapshots in, Parquet reports out, on plain PySpark.

Knows the collector by its snapshot format only and never imports `functions`.
"""
