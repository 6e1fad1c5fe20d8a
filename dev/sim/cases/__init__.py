# SPDX-License-Identifier: Apache-2.0
"""Cases: what there is, and what happens to it, written down or drawn by a seed."""
