# SPDX-License-Identifier: Apache-2.0
"""Stands in for the code of a function, which nobody runs."""
