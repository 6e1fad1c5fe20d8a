# SPDX-License-Identifier: Apache-2.0
"""Roll-ups."""
