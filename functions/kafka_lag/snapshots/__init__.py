# SPDX-License-Identifier: Apache-2.0
"""The snapshot of a run: three Parquet objects, which are all the state that there is."""
