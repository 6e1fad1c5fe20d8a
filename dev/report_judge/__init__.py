# SPDX-License-Identifier: Apache-2.0
"""Whether the report says what happened: days with planted incidents, page and message read.

`planted` holds the days and what is true of them, `judge` reads what a person reads and shares no
definition with the report. `python -m dev.report_judge` writes the days, runs the job over all of
them at once and prints what was found, missed and false.
"""
