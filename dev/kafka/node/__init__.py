# SPDX-License-Identifier: Apache-2.0
"""One Kafka node: its settings, its certificate, its process, and the guard that ends it."""
