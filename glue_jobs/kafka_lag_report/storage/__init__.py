# SPDX-License-Identifier: Apache-2.0
"""Where Spark, its file systems and the folder layout meet; the reports know none of it."""
