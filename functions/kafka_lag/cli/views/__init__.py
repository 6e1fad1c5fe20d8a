# SPDX-License-Identifier: Apache-2.0
"""The deployed views on this machine, for people with a browser."""

from kafka_lag.cli.views.server import LocalServer as LocalServer
