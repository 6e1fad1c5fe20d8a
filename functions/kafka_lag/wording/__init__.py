# SPDX-License-Identifier: Apache-2.0
"""All texts for people: words, sentences, advice, and the format of numbers and times.

It is packed for Glue: Python 3.11, the standard library and the contract alone.
"""
