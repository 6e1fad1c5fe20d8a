# SPDX-License-Identifier: Apache-2.0
"""What groups and topics say: sums, worst partitions, and a status that has lasted."""
