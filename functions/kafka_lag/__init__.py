# SPDX-License-Identifier: Apache-2.0
"""The Lambda asset: everything that runs in AWS, imported under this name everywhere."""
