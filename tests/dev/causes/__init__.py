# SPDX-License-Identifier: Apache-2.0
"""Planted troubles and the score of who names their causes."""
