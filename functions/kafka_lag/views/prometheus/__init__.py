# SPDX-License-Identifier: Apache-2.0
"""/metrics: the newest snapshots in Prometheus' text format; unknown is absent."""

from kafka_lag.views.prometheus.scrape import answer as answer
from kafka_lag.views.prometheus.scrape import refused as refused
