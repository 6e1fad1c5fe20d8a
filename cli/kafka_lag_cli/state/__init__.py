# SPDX-License-Identifier: Apache-2.0
"""Where the command keeps and finds snapshots: a folder that it may share, or a bucket."""
