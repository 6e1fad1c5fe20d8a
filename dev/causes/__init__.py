# SPDX-License-Identifier: Apache-2.0
"""Clusters with planted troubles, and how often a program names their cause.

`python -m dev.causes score` prints hits and misses of the collector's own rules beside two others'.
`write DIR` keeps the runs of each case as snapshots, with the truth beside them, and `judge FILE`
scores the answers of any program that read them. What is planted follows from how a case is made:
its parameters are drawn by a seed, of which `--set-aside` takes another.
"""
