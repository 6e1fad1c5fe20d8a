# SPDX-License-Identifier: Apache-2.0
"""Everything that is said to people: words, sentences, advice, and how numbers and times are shown.

It is packed for Glue: Python 3.11, the standard library and the contract alone.
"""
