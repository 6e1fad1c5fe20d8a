# SPDX-License-Identifier: Apache-2.0
"""Lag exporters side by side: runs the programs themselves and judges them by planted facts."""
