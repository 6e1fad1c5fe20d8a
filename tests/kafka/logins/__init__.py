# SPDX-License-Identifier: Apache-2.0
"""The ways in beside a password: tokens and client certificates."""
