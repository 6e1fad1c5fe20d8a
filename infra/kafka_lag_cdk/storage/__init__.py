# SPDX-License-Identifier: Apache-2.0
"""Where rows are kept and how they are asked for: bucket, catalog, queries, the daily job."""
