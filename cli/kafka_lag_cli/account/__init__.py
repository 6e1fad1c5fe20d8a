# SPDX-License-Identifier: Apache-2.0
"""What AWS knows of a cluster and its network, for `init` and `doctor`."""
