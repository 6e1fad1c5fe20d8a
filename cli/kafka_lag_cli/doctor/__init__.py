# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag doctor`: what keeps a login from reading a cluster, and the line that repairs each.

Of the brokers: connection, rights, cluster. Of AWS: deployment, msk, secret, network, and the
deployed function. Each gives findings; the repairs are lines for a shell.
"""

from kafka_lag_cli.doctor.command import doctor

__all__ = ["doctor"]
