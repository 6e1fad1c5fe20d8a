# SPDX-License-Identifier: Apache-2.0
"""The table of groups on a terminal."""
