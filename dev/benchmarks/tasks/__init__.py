# SPDX-License-Identifier: Apache-2.0
"""Tasks needed on real brokers: consumers of set capacity, advice, and what holds when tried."""
