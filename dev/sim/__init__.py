# SPDX-License-Identifier: Apache-2.0
"""One simulated cluster, in memory or on real brokers, and one truth about it.

`events` has the things that can happen, and `cases` has their times. `world` runs a case in memory,
and `live` on real brokers. `truth` derives the right answers from the logs and the events.
`scorers` compare the collector's answers with them, and `python -m dev.sim score CASES --by SCORER`
prints the result.
"""
