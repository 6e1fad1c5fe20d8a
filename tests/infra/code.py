# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the collector's package, which is another test's matter and slow to build."""

from __future__ import annotations

from pathlib import Path

import kafka_lag_cdk.broker_lookup_code

# Some Python file, whatever it does.
SMALL_PACKAGE = Path(kafka_lag_cdk.broker_lookup_code.__file__).parent
