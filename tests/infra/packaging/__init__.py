# SPDX-License-Identifier: Apache-2.0
"""What is deployed: the functions' package, and the Glue job's modules."""
