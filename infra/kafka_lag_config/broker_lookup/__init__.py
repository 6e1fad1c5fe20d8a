# SPDX-License-Identifier: Apache-2.0
"""Code that finds the brokers at deploy time; an asset of its own."""
