# SPDX-License-Identifier: Apache-2.0
"""Tests of the comparison of two commits, with a planted difference for each kind of answer."""
