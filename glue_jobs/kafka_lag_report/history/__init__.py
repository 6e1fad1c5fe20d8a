# SPDX-License-Identifier: Apache-2.0
"""The day in few sorted files, made once and verified."""
