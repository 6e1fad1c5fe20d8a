# SPDX-License-Identifier: Apache-2.0
"""No port is given to two clusters, or to a cluster and a proxy, before anybody listens on it."""

import socket

from dev.kafka.node import HOST, free_ports


def test_a_port_is_given_once_and_never_while_somebody_listens_on_it() -> None:
    (first,) = free_ports(1)
    with socket.socket() as taken:
        taken.bind((HOST, first + 1))
        assert not {first, first + 1}.intersection(free_ports(50))
