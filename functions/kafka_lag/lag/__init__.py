# SPDX-License-Identifier: Apache-2.0
"""What the numbers mean: pure arithmetic on columns, no clock, no I/O, no AWS."""
