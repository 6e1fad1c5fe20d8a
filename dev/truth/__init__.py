# SPDX-License-Identifier: Apache-2.0
"""Lag exporters side by side: the programs themselves, judged by what was planted."""
