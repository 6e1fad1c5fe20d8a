# SPDX-License-Identifier: Apache-2.0
"""The command's snapshots: in a folder that it may share, or in a bucket."""
