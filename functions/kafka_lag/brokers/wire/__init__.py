# SPDX-License-Identifier: Apache-2.0
"""Connections: how to reach brokers, who we are to them, and questions to many at once."""
