# SPDX-License-Identifier: Apache-2.0
"""What a person is told of a day: on the terminal at a run's end, and by message what changed."""

from kafka_lag_report.summary.console import print_reports

__all__ = ["print_reports"]
