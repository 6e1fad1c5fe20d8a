# SPDX-License-Identifier: Apache-2.0
"""Compares two commits: runs both on the same input, and finds all values that differ.

`outputs` runs one commit's code and writes all that it makes as trees of JSON, `differences` walks
two such trees.
"""
