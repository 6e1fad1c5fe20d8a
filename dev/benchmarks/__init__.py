# SPDX-License-Identifier: Apache-2.0
"""How fast, how right and how large: `python -m dev.benchmarks.NAME`; see docs/truth.md."""
