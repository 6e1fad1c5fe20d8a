# SPDX-License-Identifier: Apache-2.0
"""Sinks: each takes metric sets and writes them in a form of its own."""
