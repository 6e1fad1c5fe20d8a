# SPDX-License-Identifier: Apache-2.0
"""Which resources of a right are explained to cdk-nag, and which it is left to find."""

from __future__ import annotations

from kafka_lag_cdk.rights import allow

OBJECTS, OBJECT = "arn:aws:s3:::lag/reports/*", "arn:aws:s3:::lag/reports"


def test_a_reason_is_for_the_resources_that_end_with_an_asterisk() -> None:
    right = allow("s3:GetObject", on=(OBJECT, OBJECTS), because="a day names them")
    assert right.wildcards() == [OBJECTS]


def test_without_a_reason_nothing_is_explained() -> None:
    assert allow("s3:GetObject", on=OBJECTS).wildcards() == []


def test_one_resource_is_as_good_as_a_list_of_one() -> None:
    assert allow("s3:GetObject", on=OBJECT) == allow("s3:GetObject", on=[OBJECT])
