# SPDX-License-Identifier: Apache-2.0
"""What a run leaves behind: three Parquet objects, which are also all the state there is."""
