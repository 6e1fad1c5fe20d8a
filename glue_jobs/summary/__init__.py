# SPDX-License-Identifier: Apache-2.0
"""What a person is told of a day: on the terminal at a run's end, and by message what changed."""

from glue_jobs.summary.console import print_reports

__all__ = ["print_reports"]
