# SPDX-License-Identifier: Apache-2.0
"""Sinks: where metrics go. Each takes metric sets and writes them in its own form."""
