# SPDX-License-Identifier: Apache-2.0
"""Compares two commits: runs both on the same input, and prints all values that differ."""
