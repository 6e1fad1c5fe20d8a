# SPDX-License-Identifier: Apache-2.0
"""The collector of one cluster: its function, network, rights and schedule."""
