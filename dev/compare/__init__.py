# SPDX-License-Identifier: Apache-2.0
"""Two commits on the same input: what they publish, store, answer, send, report and synthesise.

`python -m dev.compare OLD NEW` checks both commits out, runs `probe` inside each, and prints where
their answers differ. `readings` is the plain form of what brokers said, which no commit's code
appears in; `probe.layout` is the only place that knows what a commit calls things.
"""
