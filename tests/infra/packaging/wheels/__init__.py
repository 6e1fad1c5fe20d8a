# SPDX-License-Identifier: Apache-2.0
"""Which dependencies are in them."""
