# SPDX-License-Identifier: Apache-2.0
"""Tests of time lag on real brokers, with records of known times."""
