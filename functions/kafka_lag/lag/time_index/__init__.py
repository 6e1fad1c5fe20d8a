# SPDX-License-Identifier: Apache-2.0
"""What brokers can tell of the time at which a record was appended, and how to find it."""
