# SPDX-License-Identifier: Apache-2.0
"""Messages to people and machines, once each, when a group's held status changes."""
