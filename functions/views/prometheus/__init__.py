# SPDX-License-Identifier: Apache-2.0
"""/metrics: the newest snapshots in Prometheus' text format; unknown is absent."""

from functions.views.prometheus.scrape import answer as answer
from functions.views.prometheus.scrape import refused as refused
