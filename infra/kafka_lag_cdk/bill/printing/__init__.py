# SPDX-License-Identifier: Apache-2.0
"""A bill for people, as tables, and for machines, as JSON."""
