# SPDX-License-Identifier: Apache-2.0
"""Where metrics go: each sink takes metric sets and says them in its own form."""
