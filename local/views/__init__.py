# SPDX-License-Identifier: Apache-2.0
"""The deployed views on this machine, for people with a browser."""

from local.views.server import LocalServer as LocalServer
