# SPDX-License-Identifier: Apache-2.0
"""A broker that is slow of itself is noticed, and one that answers in time is not."""

import socket
import struct
import threading

import pytest

from dev.faults.pulse import Pulse
from dev.faults.truth import Truth, now_ms

_ANSWER = struct.pack(">ii", 4, 1)
_REQUEST_BYTES = 14


@pytest.mark.parametrize(("slow_ms", "slow"), [(60_000, False), (300, True)])
def test_only_an_answer_that_takes_long_is_a_trouble(slow_ms: int, slow: bool) -> None:
    truth, began, enough = Truth(), now_ms(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                for _ in range(3):
                    if not connection.recv(_REQUEST_BYTES):
                        return
                    threading.Event().wait(0.5)
                    connection.sendall(_ANSWER)
                enough.set()

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        address = {2: f"127.0.0.1:{server.getsockname()[1]}"}
        with Pulse(truth, address, slow_ms=slow_ms) as pulse:
            assert enough.wait(240)
        thread.join(30)
    assert pulse.was_slow(began, now_ms()) == slow
    assert not pulse.was_slow(began - 1_000, began - 1)
    assert truth.view().troubled(2, began, now_ms()) == slow
    assert not truth.view().troubled(1, began, now_ms())
