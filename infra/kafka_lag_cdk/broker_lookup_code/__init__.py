# SPDX-License-Identifier: Apache-2.0
"""What runs at deploy time to find the brokers; an asset of its own."""
