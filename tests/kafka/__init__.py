# SPDX-License-Identifier: Apache-2.0
"""The collector's reading against real brokers."""
