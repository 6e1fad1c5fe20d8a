# SPDX-License-Identifier: Apache-2.0
"""Look-ups in the time index of real brokers."""
