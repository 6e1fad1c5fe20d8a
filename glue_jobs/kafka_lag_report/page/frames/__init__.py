# SPDX-License-Identifier: Apache-2.0
"""From report frames to the page's rows: one bounded collect each."""
