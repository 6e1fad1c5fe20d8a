# SPDX-License-Identifier: Apache-2.0
"""Tests of the fault campaign's own parts, without brokers."""
