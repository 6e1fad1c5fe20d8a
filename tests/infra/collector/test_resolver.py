# SPDX-License-Identifier: Apache-2.0
"""CloudFormation always gets the brokers, or an error that says how to get some."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from botocore.loaders import Loader

from kafka_lag_config.broker_lookup.index import FIELDS, put, respond
from tests.infra.configured import UUID

ARN = f"arn:aws:kafka:eu-west-1:111122223333:cluster/orders/{UUID}"


class Msk:
    """Answers GetBootstrapBrokers with what it was made with; moto has no such call."""

    def __init__(self, **brokers: str) -> None:
        self.brokers = brokers

    def get_bootstrap_brokers(self, ClusterArn: str) -> dict[str, str]:  # noqa: N803
        if ClusterArn != ARN:
            raise RuntimeError("no such cluster")
        return self.brokers


def event(kind: str = "Create", way: str = "scram", arn: str = ARN) -> dict[str, Any]:
    return {
        "RequestType": kind,
        "ResponseURL": "https://example.com/answer",
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "Answer",
        "ResourceProperties": {"ClusterArn": arn, "Way": way},
    }


def answered(sent: dict[str, Any], msk: Msk) -> dict[str, Any]:
    answers: list[tuple[str, bytes]] = []
    respond(sent, lambda: msk, lambda url, body: answers.append((url, body)))
    ((url, body),) = answers
    assert url == sent["ResponseURL"]
    return dict(json.loads(body))


@pytest.mark.parametrize(("way", "field"), sorted(FIELDS.items()))
def test_the_servers_of_the_configured_login_are_told(way: str, field: str) -> None:
    answer = answered(event(way=way), Msk(**{field: "b-1:9096,b-2:9096", "Other": "x"}))
    assert (answer["Status"], answer["Data"]) == ("SUCCESS", {"Servers": "b-1:9096,b-2:9096"})


def test_an_answer_carries_what_cloudformation_looks_for() -> None:
    answer = answered(event(), Msk(BootstrapBrokerStringSaslScram="b:9096"))
    keys = ("StackId", "RequestId", "LogicalResourceId", "PhysicalResourceId")
    assert [answer[key] for key in keys] == ["stack", "request", "Answer", "Answer"]


def test_a_login_that_is_off_fails_the_deploy_with_what_to_do() -> None:
    answer = answered(event(), Msk(BootstrapBrokerStringSaslIam="b:9098"))
    assert answer["Status"] == "FAILED"
    assert "enable SASL/SCRAM on it, or give bootstrap_servers" in answer["Reason"]


def test_any_other_failure_is_told_too() -> None:
    answer = answered(event(arn="arn:aws:kafka:other"), Msk())
    assert (answer["Status"], answer["Reason"]) == ("FAILED", "no such cluster")


def test_removing_the_stack_asks_msk_nothing() -> None:
    answer = answered(
        event("Delete", arn="arn:aws:kafka:gone") | {"PhysicalResourceId": "p"}, Msk()
    )
    assert (answer["Status"], answer["PhysicalResourceId"]) == ("SUCCESS", "p")


def test_the_answer_is_put_as_the_signed_address_wants_it() -> None:
    heard: list[tuple[str, str | None, bytes]] = []

    class Waiting(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            length = int(self.headers["content-length"])
            heard.append((self.path, self.headers["content-type"], self.rfile.read(length)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing on the terminal."""

    with HTTPServer(("127.0.0.1", 0), Waiting) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        put(f"http://127.0.0.1:{server.server_port}/answer?signed=1", b"{}")
        thread.join()
    assert heard == [("/answer?signed=1", "", b"{}")]


def test_every_field_is_one_that_msk_has() -> None:
    model = Loader().load_service_model("kafka", "service-2")
    members = model["shapes"]["GetBootstrapBrokersResponse"]["members"]
    assert set(FIELDS.values()) <= set(members)
