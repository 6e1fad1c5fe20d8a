# SPDX-License-Identifier: Apache-2.0
"""The fault campaign's own parts, without brokers."""
