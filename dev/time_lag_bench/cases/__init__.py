# SPDX-License-Identifier: Apache-2.0
"""What is written: the times of records and the offsets of commits, case by case."""
