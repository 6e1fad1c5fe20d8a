# SPDX-License-Identifier: Apache-2.0
"""Tests of packages: the functions', and the Glue job's modules."""
