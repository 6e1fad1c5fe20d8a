# SPDX-License-Identifier: Apache-2.0
"""Tests of rules that concern several parts."""
