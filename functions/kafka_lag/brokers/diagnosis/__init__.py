# SPDX-License-Identifier: Apache-2.0
"""Reasons why a cluster cannot be read; loaded when something fails, and by `doctor`.

`ports` looks at what servers speak, `unreachable` makes one error of it.
"""
