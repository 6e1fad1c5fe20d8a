# SPDX-License-Identifier: Apache-2.0
"""Tests of the report: frames in, rows out, and whole runs over folders that pyarrow wrote."""
