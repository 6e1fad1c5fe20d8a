# SPDX-License-Identifier: Apache-2.0
"""What can be said of one group's partition: lag, owner, movement, rates, status, retention."""
