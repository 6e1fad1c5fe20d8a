# SPDX-License-Identifier: Apache-2.0
"""The whole system on one machine: a real Kafka, an AWS stand-in, traffic and a demo."""
