# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag tasks`: how many tasks groups need, and what other numbers would have done."""

from kafka_lag_cli.tasks.command import tasks

__all__ = ["tasks"]
