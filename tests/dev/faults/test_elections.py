# SPDX-License-Identifier: Apache-2.0
"""The requests that are written by hand, byte by byte."""

from dev.faults.elections import election_of, request_of


def test_a_reassignment_is_written_as_the_protocol_says() -> None:
    assert request_of({"ab": {1: [3, 2]}}) == bytes.fromhex(
        # Key 45, version 0, correlation id 1, no client id, no tags.
        "002d 0000 00000001 ffff 00"
        # 10 s; one topic `ab`, one partition 1, two replicas 3 and 2; three times no tags.
        "00002710 02 03 6162 02 00000001 03 00000003 00000002 00 00 00"
    )


def test_a_long_array_has_a_length_of_several_bytes() -> None:
    many = request_of({"ab": {number: [1] for number in range(200)}})
    assert bytes.fromhex("03 6162 c901 00000000 02 00000001 00") in many


def test_an_election_is_asked_for_these_partitions_and_no_others() -> None:
    assert election_of({"ab": [1, 2]}) == bytes.fromhex(
        # Key 43, version 2, correlation id 1, no client id, no tags.
        "002b 0002 00000001 ffff 00"
        # Preferred; one topic `ab`, partitions 1 and 2; no tags; 10 s; no tags.
        "00 02 03 6162 03 00000001 00000002 00 00002710 00"
    )
