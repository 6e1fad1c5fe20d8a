# SPDX-License-Identifier: Apache-2.0
"""One simulated cluster, in memory or on real brokers, and one truth about it.

`events` says what can happen, `cases` what happens when, `world` lets it happen in memory and
`live` on real brokers. `truth` derives from the logs and the events what is right; `scorers`
compare the collector's answers with it. `python -m dev.sim score CASES --by SCORER` prints that.
"""
