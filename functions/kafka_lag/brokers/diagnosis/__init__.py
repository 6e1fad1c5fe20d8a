# SPDX-License-Identifier: Apache-2.0
"""Reasons why a cluster cannot be read; loaded if something fails, and by `doctor`.

`ports` finds out what servers speak, `unreachable` makes one error of it.
"""
