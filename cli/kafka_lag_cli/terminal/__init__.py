# SPDX-License-Identifier: Apache-2.0
"""Output about groups: the table, one group in detail, rows for programs, and their choice."""
