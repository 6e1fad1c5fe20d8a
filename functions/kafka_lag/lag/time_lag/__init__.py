# SPDX-License-Identifier: Apache-2.0
"""How old the next unread record is: bounds from earlier runs, closed in on by the time index."""
