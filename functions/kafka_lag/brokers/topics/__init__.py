# SPDX-License-Identifier: Apache-2.0
"""Topics: their partitions, their settings, where their logs begin and end."""
