# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of speed, accuracy and size: `python -m dev.benchmarks.NAME`; see docs/migrating.md."""
