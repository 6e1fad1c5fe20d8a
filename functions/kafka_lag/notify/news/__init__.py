# SPDX-License-Identifier: Apache-2.0
"""What is to be told, by comparing sets with what was told last; nothing here reads or sends."""
