# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: `python -m dev.benchmarks.NAME`; docs/migrating.md has speeds that were measured."""
