# SPDX-License-Identifier: Apache-2.0
"""The SQL against cases that are counted by hand."""
