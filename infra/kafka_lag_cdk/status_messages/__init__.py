# SPDX-License-Identifier: Apache-2.0
"""One message for each change of a group's held status, from snapshot to topic and bus."""
