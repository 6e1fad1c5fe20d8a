# SPDX-License-Identifier: Apache-2.0
"""The evaluation of readings: pure arithmetic on columns, no clock, no I/O, no AWS."""
