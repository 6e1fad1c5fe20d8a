# SPDX-License-Identifier: Apache-2.0
"""What consumers of real transactions are called, of Kafka Streams and record by record.

`dev.sim.cases.transactions` has the same in memory, known record by record.
"""
