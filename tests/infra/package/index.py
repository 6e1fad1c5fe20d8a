# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the code of a function, which is never run."""
