# SPDX-License-Identifier: Apache-2.0
"""One partition of one group."""
