# SPDX-License-Identifier: Apache-2.0
"""Tests of the local system: most of them on the real cluster it starts."""
