# SPDX-License-Identifier: Apache-2.0
"""Cases brought onto real brokers and read back from them."""
