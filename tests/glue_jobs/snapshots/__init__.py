# SPDX-License-Identifier: Apache-2.0
"""Tests of reading a day of snapshots."""
