# SPDX-License-Identifier: Apache-2.0
"""The parts of `dev.bench_report`: days, the measured job, the same in DuckDB, an estimate."""
