# SPDX-License-Identifier: Apache-2.0
"""Tests of the functions, with fakes of brokers, stores and sinks."""
