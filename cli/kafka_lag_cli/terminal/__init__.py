# SPDX-License-Identifier: Apache-2.0
"""What is printed of groups: the table, one in detail, rows for programs; which are chosen."""
