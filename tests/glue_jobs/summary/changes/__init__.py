# SPDX-License-Identifier: Apache-2.0
"""What is otherwise than the day before."""
