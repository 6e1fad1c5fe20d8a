# SPDX-License-Identifier: Apache-2.0
"""Frames of a day in, one report out: nothing here reads or writes a file."""
