# SPDX-License-Identifier: Apache-2.0
"""Two commits on the same input, and every value that they make of it differently.

`outputs` runs one commit's code and writes all that it makes as trees of JSON, `differences` walks
two such trees.
"""
