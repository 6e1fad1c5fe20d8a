# SPDX-License-Identifier: Apache-2.0
"""The exporter's chart, as helm renders it; dev/README.md says what brings helm and schemas."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from kafka_lag_cli.command import kafka_lag

ROOT = Path(__file__).parents[1]
CHART = ROOT / "examples" / "exporter" / "chart"
HELM = os.environ.get("HELM") or shutil.which("helm") or str(ROOT / ".local/go/bin/helm")
KUBERNETES = "1.31"
IMAGE = "registry.example/kafka-lag"
MUTUAL_TLS = """
cluster: orders
existingSecret: kafka-login
tokenSecret: scrape-token
tlsSecret: kafka-lag-tls
serviceMonitor: {enabled: true, level: partition}
persistence: {enabled: true}
options: {sla-seconds: ["^pay=60", "^mail=600"], ignore-inactive: true}
serviceAccount: {annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::111122223333:role/lag"}}
"""
LOGIN = """
clientProperties: |
  bootstrap.servers=b-1.example:9096
  security.protocol=SASL_SSL
"""
CASES = {"brokers": "bootstrapServers: b:9092", "login": LOGIN, "mutual TLS": MUTUAL_TLS}

pytestmark = pytest.mark.skipif(not Path(HELM).is_file(), reason="helm is not here")


def helm(*words: str, values: str = "") -> subprocess.CompletedProcess[str]:
    call = [HELM, *words, "--kube-version", f"{KUBERNETES}.0", "--values", "-"]
    call += ["--set", f"image.repository={IMAGE}"]
    return subprocess.run(call, input=values, cwd=ROOT, capture_output=True, text=True, check=False)


def render(values: str) -> dict[str, Any]:
    """The manifests by their kinds."""
    ended = helm("template", "lag", str(CHART), values=values)
    assert ended.returncode == 0, ended.stderr
    return {each["kind"]: each for each in yaml.safe_load_all(ended.stdout)}


def container(manifests: dict[str, Any]) -> Any:
    (only,) = manifests["Deployment"]["spec"]["template"]["spec"]["containers"]
    return only


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_every_manifest_is_what_helm_and_kubernetes_take(values: str) -> None:
    ended = helm("lint", str(CHART), "--strict", values=values)
    assert ended.returncode == 0, ended.stdout
    schemas = pytest.importorskip("kubernetes_validate", reason="it is not installed")
    for kind, manifest in render(values).items():
        # The operator's own kind has no schema there.
        if kind != "ServiceMonitor":
            schemas.validate(manifest, KUBERNETES, strict=True)


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_each_option_is_one_of_serve(values: str) -> None:
    serve = kafka_lag.get_command(None, "serve")  # type: ignore[arg-type]
    assert serve is not None
    known = {name for parameter in serve.params for name in parameter.opts}
    used = [word.partition("=")[0] for word in container(render(values))["args"]]
    several = {name for each in serve.params if each.multiple for name in each.opts}
    assert set(used) <= known
    once = [name for name in used if name not in several]
    assert len(set(once)) == len(once)


@pytest.mark.parametrize(
    ("value", "rendered"),
    [
        ("true", ["--x"]),
        ("false", []),
        ('["^pay=60", "^mail=600"]', ["--x=^pay=60", "--x=^mail=600"]),
        ("2500000", ["--x=2500000"]),
    ],
)
def test_an_option_is_rendered_as_the_command_takes_it(value: str, rendered: list[str]) -> None:
    manifests = render(f"bootstrapServers: b:9092\noptions: {{x: {value}}}")
    words = container(manifests)["args"]
    assert [word for word in words if word.partition("=")[0] == "--x"] == rendered


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_the_pod_changes_nothing_but_its_volumes(values: str) -> None:
    manifests = render(values)
    pod = manifests["Deployment"]["spec"]["template"]["spec"]
    limits = container(manifests)["securityContext"]
    assert (limits["readOnlyRootFilesystem"], limits["allowPrivilegeEscalation"]) == (True, False)
    assert limits["capabilities"] == {"drop": ["ALL"]}
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    written = {
        mount["mountPath"]
        for mount in container(manifests)["volumeMounts"]
        if not mount.get("readOnly")
    }
    assert written == {"/state", "/tmp"}  # noqa: S108  # in the pod
    assert {mount["name"] for mount in container(manifests)["volumeMounts"]} == {
        volume["name"] for volume in pod["volumes"]
    }


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_the_service_and_its_monitor_find_the_pods(values: str) -> None:
    manifests = render(values)
    labels = manifests["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert manifests["Service"]["spec"]["selector"].items() <= labels.items()
    (port,) = manifests["Service"]["spec"]["ports"]
    assert port["targetPort"] in [each["name"] for each in container(manifests)["ports"]]
    if monitor := manifests.get("ServiceMonitor"):
        (endpoint,) = monitor["spec"]["endpoints"]
        assert endpoint["port"] == port["name"]
        wanted = monitor["spec"]["selector"]["matchLabels"]
        assert wanted.items() <= manifests["Service"]["metadata"]["labels"].items()


def test_a_login_lies_in_a_secret_and_nowhere_else() -> None:
    values = LOGIN + "  sasl.jaas.config=x password=correct-horse;\n"
    manifests = render(values)
    holders = [kind for kind, each in manifests.items() if "correct-horse" in yaml.dump(each)]
    assert holders == ["Secret"]


def test_over_https_probes_and_prometheus_speak_it() -> None:
    manifests = render(MUTUAL_TLS)
    assert container(manifests)["readinessProbe"]["httpGet"]["scheme"] == "HTTPS"
    (endpoint,) = manifests["ServiceMonitor"]["spec"]["endpoints"]
    assert endpoint["scheme"] == "https"
    assert endpoint["authorization"]["credentials"] == {"name": "scrape-token", "key": "token"}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ("cluster: x", "Say where the brokers are: bootstrapServers, or bootstrap.servers in"),
        (f"{LOGIN}existingSecret: x", "clientProperties and existingSecret are two logins"),
        ("clientProperties: '# bootstrap.servers=b:9'", "Say where the brokers are: bootstrapSer"),
        (f"{LOGIN}  ssl.truststore.location=ca.pem", "no pod has (ssl.truststore.location=ca.pem)"),
        (f"{LOGIN}bootstrapServer: b:9092", "additional properties 'bootstrapServer' not allowed"),
    ],
)
def test_values_that_do_not_fit_are_one_sentence(values: str, sentence: str) -> None:
    ended = helm("template", "lag", str(CHART), values=values)
    assert ended.returncode != 0
    assert sentence in ended.stderr


@pytest.mark.parametrize(
    "values",
    [
        "existingSecret: kafka-login",
        "clientProperties: bootstrap.servers=b:9092",
        "clientProperties: 'bootstrap.servers : b:9092'",
        f"{LOGIN}  #ssl.truststore.location=ca.pem\n  ssl.keystore.location=\n",
        "bootstrapServers: b:9092\nclientProperties: security.protocol=SSL",
        "bootstrapServers: b:9092\nglobal: {region: eu}",
    ],
)
def test_values_that_name_brokers_and_no_files_are_rendered(values: str) -> None:
    assert container(render(values))["args"]


def test_each_value_is_used_and_has_its_place_in_the_schema() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    schema = json.loads((CHART / "values.schema.json").read_text())
    # Helm gives it to each chart that is part of another.
    assert {*values, "global"} == set(schema["properties"])
    for name, value in values.items():
        if inner := schema["properties"][name].get("properties"):
            assert set(value) == set(inner)
    text = "\n".join(path.read_text() for path in (CHART / "templates").iterdir())
    assert all(re.search(rf"\.Values\.{name}\b", text) for name in values)
