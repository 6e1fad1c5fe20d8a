# SPDX-License-Identifier: Apache-2.0
"""Tests of glue_jobs/kafka_lag_report/storage/snapshots."""
