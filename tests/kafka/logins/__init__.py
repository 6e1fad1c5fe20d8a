# SPDX-License-Identifier: Apache-2.0
"""Tests of logins without a password: tokens and client certificates."""
