# SPDX-License-Identifier: Apache-2.0
"""Metrics over the OpenTelemetry protocol: protobuf over HTTP, gzip."""
