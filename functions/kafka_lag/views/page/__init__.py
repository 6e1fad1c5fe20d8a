# SPDX-License-Identifier: Apache-2.0
"""The status page: what a person on call opens, made from the newest snapshots.

Rendered on the server, usable without JavaScript; it loads nothing from anywhere.
"""

from kafka_lag.views.page.routes import answer as answer
