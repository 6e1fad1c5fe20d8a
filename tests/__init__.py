# SPDX-License-Identifier: Apache-2.0
"""The tests, laid out like what they test."""
