# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag query`: saved queries on snapshots and reports."""

from kafka_lag_cli.query.command import query

__all__ = ["query"]
