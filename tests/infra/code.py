# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the collector's package, which is slow to build and has tests of its own."""

from __future__ import annotations

from pathlib import Path

# Nobody imports it: a cache beside it would make it another asset.
SMALL_PACKAGE = Path(__file__).with_name("package")
