# SPDX-License-Identifier: Apache-2.0
"""Tests of look-ups in the time index of real brokers."""
