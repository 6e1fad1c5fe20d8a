# SPDX-License-Identifier: Apache-2.0
"""Facts from AWS about a cluster and its network, for `init` and `doctor`."""
