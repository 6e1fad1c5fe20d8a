# SPDX-License-Identifier: Apache-2.0
"""The dependencies of the functions: which, from where, and what is left of them."""
