# SPDX-License-Identifier: Apache-2.0
"""A Lambda runtime on this machine: its API, and the process that runs a package."""
