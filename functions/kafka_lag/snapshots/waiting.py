# SPDX-License-Identifier: Apache-2.0
"""How long a run waits for its store: as long as its share of the time, whatever hangs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import TypeVar

from kafka_lag.errors import StoreError

T = TypeVar("T")


def answered(call: Callable[[], T], seconds: float) -> T:
    """What a call of the store returns or raises; StoreError if it takes longer than this.

    No client's timeout bounds the look-up of a name, an answer that trickles in, and all attempts
    at all objects together. So the call has a thread, which is left to itself when it is late: it
    can only write what is written once and never changed.
    """
    result: Future[T] = Future()

    def work() -> None:
        try:
            result.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised by `result` below
            result.set_exception(error)

    Thread(target=work, daemon=True).start()
    if not wait([result], seconds).done:
        raise StoreError(
            f"The snapshot store did not respond within {seconds:.3g} s. Check the VPC's S3 "
            "endpoint and the resolution of names."
        )
    return result.result()
