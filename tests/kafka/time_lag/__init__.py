# SPDX-License-Identifier: Apache-2.0
"""Time lag from real brokers: records of known times, and what is said of who has not read them."""
