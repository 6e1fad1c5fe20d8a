# SPDX-License-Identifier: Apache-2.0
"""The topic that alarms speak to, and how it reaches people."""
