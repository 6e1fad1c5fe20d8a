# SPDX-License-Identifier: Apache-2.0
"""Ways to reach and read a cluster: options on the command line, or a deployed configuration."""
