# SPDX-License-Identifier: Apache-2.0
"""The daily report on a large day: its job measured, the same in DuckDB, and an estimate."""

from __future__ import annotations
