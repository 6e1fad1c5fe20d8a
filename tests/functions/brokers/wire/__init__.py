# SPDX-License-Identifier: Apache-2.0
"""Connections and logins."""
