# SPDX-License-Identifier: Apache-2.0
"""Cases on real brokers with real clients, seen by the real collector, in shortened time."""
