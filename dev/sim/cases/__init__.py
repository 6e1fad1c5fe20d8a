# SPDX-License-Identifier: Apache-2.0
"""Cases: topics, groups and the events that happen to them, written by hand or drawn by a seed."""
