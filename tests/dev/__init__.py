# SPDX-License-Identifier: Apache-2.0
"""Tests of the tools in dev, most of them on a real cluster."""
