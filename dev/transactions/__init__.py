# SPDX-License-Identifier: Apache-2.0
"""Consumers of topics that are written in transactions: is what they are called right?

`planted`: logs drawn by a seed, known record by record, and their readers, through whole runs.
`brokers`: real transactions, of Kafka Streams and record by record, and real readers.
"""
