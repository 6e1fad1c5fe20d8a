# SPDX-License-Identifier: Apache-2.0
"""Views of the snapshots behind a function URL, for those who may ask."""
