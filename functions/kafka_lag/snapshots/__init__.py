# SPDX-License-Identifier: Apache-2.0
"""The snapshot of a run: three Parquet objects, which hold all state between runs."""
