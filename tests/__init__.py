# SPDX-License-Identifier: Apache-2.0
"""The tests, in folders like the ones of the code that they test."""
