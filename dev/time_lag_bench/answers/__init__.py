# SPDX-License-Identifier: Apache-2.0
"""What is said about the commits, by the collector and by rivals, and how right it is."""
