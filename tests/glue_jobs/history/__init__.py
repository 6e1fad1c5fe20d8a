# SPDX-License-Identifier: Apache-2.0
"""The day in few files, and what marks its objects."""
