# SPDX-License-Identifier: Apache-2.0
"""Telling people and machines, once, that a group's held status changed."""
