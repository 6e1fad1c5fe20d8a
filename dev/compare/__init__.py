# SPDX-License-Identifier: Apache-2.0
"""Two commits on the same input, and every value that they make of it differently.

`inputs` puts down what brokers said as plain files, `probe` runs one commit's code over them and
leaves files, `differences` holds two such folders together value by value.
"""
