# SPDX-License-Identifier: Apache-2.0
"""The parts of `local.bench_report`: days, the measured job, the same in DuckDB, an estimate."""
