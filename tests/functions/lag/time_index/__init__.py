# SPDX-License-Identifier: Apache-2.0
"""Searching a time index."""
