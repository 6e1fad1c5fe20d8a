# SPDX-License-Identifier: Apache-2.0
"""Burrow's HTTP API over snapshots: its paths, fields, types, words and status codes."""

from kafka_lag.views.burrow.envelope import failed as failed
from kafka_lag.views.burrow.routes import answer as answer
