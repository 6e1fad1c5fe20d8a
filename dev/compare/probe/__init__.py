# SPDX-License-Identifier: Apache-2.0
"""What runs inside a checkout: plain input in, plain output out.

All that it knows of the commit's own code are the names in `layout`.
"""
