# SPDX-License-Identifier: Apache-2.0
"""One page a cluster: its groups, the reporter itself, and its brokers beside them."""
