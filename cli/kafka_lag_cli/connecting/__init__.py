# SPDX-License-Identifier: Apache-2.0
"""How a cluster is reached and read: options on the command line, or a deployed document."""
