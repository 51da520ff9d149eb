# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.virtual import VirtualClock, run
from trellis.kube import kubeconfig
from trellis.kube.access import Access, Surroundings
from trellis.kube.connect import find_access
from trellis.kube.credentials import Certificate, Identity
from trellis.kube.errors import BadConfig
from trellis.kube.kubeconfig_file import load

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVER = "https://example.com:6443"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def a_config(
    cluster: Mapping[str, Any] | None = None,
    user: Mapping[str, Any] | None = None,
    context: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": SERVER, **(cluster or {})}}],
        "users": [{"name": "u", "user": dict(user or {})}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", **(context or {})}}],
        "current-context": "x",
    }


def surroundings(**environ: str) -> Surroundings:
    return Surroundings(clock=VirtualClock(), environ=environ)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config"


def written(file: Path, config: Any) -> Path:
    file.write_text(config if isinstance(config, str) else yaml.safe_dump(config))
    return file


def accessed(file: Path, config: Any, **environ: str) -> Access:
    return find_access(surroundings(**environ), file=written(file, config))


def identity(access: Access) -> Identity:
    async def ask() -> Identity:
        return await access.credentials.identity()

    return run(ask())


def authorization(value: str) -> Identity:
    return Identity((("Authorization", value),))


@pytest.mark.parametrize(
    ("user", "want"),
    [
        pytest.param({}, Identity(), id="nothing"),
        pytest.param({"token": "abc"}, authorization("Bearer abc"), id="a token"),
        pytest.param({"token": 12345}, authorization("Bearer 12345"), id="a token of digits"),
        pytest.param(
            {"username": "me", "password": "no"}, authorization("Basic bWU6bm8="), id="a password"
        ),
        pytest.param({"tokenFile": "token"}, authorization("Bearer from-file"), id="a token file"),
        pytest.param(
            {"tokenFile": "token", "token": "abc"},
            authorization("Bearer from-file"),
            id="a token file goes before a token",
        ),
        pytest.param(
            {
                "client-certificate-data": encoded("chain"),
                "client-key-data": encoded("key"),
            },
            Identity((), Certificate(b"chain", b"key")),
            id="a certificate in place",
        ),
        pytest.param(
            {"client-certificate": "tls/crt", "client-key": "tls/key"},
            Identity((), Certificate(b"file chain", b"file key")),
            id="a certificate in files beside it",
        ),
        pytest.param(
            {
                "client-certificate": "nowhere",
                "client-certificate-data": encoded("chain"),
                "client-key-data": encoded("key"),
            },
            Identity((), Certificate(b"chain", b"key")),
            id="data goes before a file",
        ),
        pytest.param(
            {"token": "abc", "exec": {"command": "never-run", "apiVersion": "x"}},
            authorization("Bearer abc"),
            id="a token goes before a program",
        ),
    ],
)
def test_who_a_user_is(file: Path, user: dict[str, Any], want: Identity) -> None:
    (file.parent / "token").write_text("from-file\n")
    (file.parent / "tls").mkdir()
    (file.parent / "tls" / "crt").write_bytes(b"file chain")
    (file.parent / "tls" / "key").write_bytes(b"file key")
    assert identity(accessed(file, a_config(user=user))) == want


def test_no_user_is_an_anonymous_one(file: Path) -> None:
    access = accessed(file, a_config(context={"user": ""}))
    assert identity(access) == Identity()
    assert access.impersonation == ()


def test_impersonation_is_sent_in_headers(file: Path) -> None:
    user = {
        "token": "t",
        "as": "jane",
        "as-uid": "7",
        "as-groups": ["g1", "g2"],
        "as-user-extra": {"example.com/scopes": ["a", "b"]},
    }
    assert accessed(file, a_config(user=user)).impersonation == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "g1"),
        ("Impersonate-Group", "g2"),
        ("Impersonate-Extra-example.com%2Fscopes", "a"),
        ("Impersonate-Extra-example.com%2Fscopes", "b"),
    )


def test_how_the_server_is_reached(file: Path) -> None:
    cluster = {
        "certificate-authority": "ca.crt",
        "tls-server-name": "inside.example.com",
        "proxy-url": "http://proxy:3128",
    }
    (file.parent / "ca.crt").write_bytes(b"authority")
    access = accessed(file, a_config(cluster, context={"namespace": "team"}))
    assert (access.server, access.namespace, access.proxy) == (SERVER, "team", "http://proxy:3128")
    assert access.trust.authority_file == file.parent / "ca.crt"
    assert access.trust.server_name == "inside.example.com"
    plain = accessed(file, a_config({"insecure-skip-tls-verify": True, "server": SERVER + "/"}))
    assert (plain.server, plain.trust.insecure, plain.namespace) == (SERVER, True, "default")


def test_the_environment_may_name_a_proxy(file: Path) -> None:
    assert accessed(file, a_config(), HTTPS_PROXY="proxy:1").proxy == "http://proxy:1"


def test_several_files_are_merged_and_the_first_word_counts(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two" / "config"
    two.parent.mkdir()
    first = a_config(user={"username": "me"})
    del first["current-context"]
    written(one, first)
    other = a_config({"server": "https://other"}, {"username": "you", "token": "t"})
    other["clusters"].append({"name": "d", "cluster": {"server": "https://d"}})
    other["users"].append({"name": "v", "user": {"tokenFile": "token"}})
    other["contexts"].append({"name": "y", "context": {"cluster": "d", "user": "v"}})
    written(two, {**other, "current-context": "y"})
    (two.parent / "token").write_text("beside-two")
    around = surroundings(KUBECONFIG=f"{one}:{tmp_path / 'missing'}::{two}")
    chosen = find_access(around)
    assert chosen.server == "https://d"
    assert identity(chosen) == authorization("Bearer beside-two")
    merged = find_access(around, context="x")
    assert merged.server == SERVER
    assert identity(merged) == authorization("Basic bWU6")


def test_without_a_name_the_file_at_home_is_read(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    written(tmp_path / ".kube" / "config", a_config())
    assert find_access(surroundings(HOME=str(tmp_path))).server == SERVER


def test_kubectl_s_own_files_with_nulls_and_unknown_fields_are_read(file: Path) -> None:
    text = """
apiVersion: v1
clusters:
- {name: c, cluster: {server: "https://example.com", extensions: [{name: m, extension: {v: 1}}]}}
contexts:
- context:
    cluster: c
    user: 0000:17:00.0
  name: no
current-context: no
kind: Config
preferences: {}
users:
- name: 0000:17:00.0
  user:
    token: 17
    exec:
    unknown: [1]
"""
    access = accessed(file, text)
    assert access.server == "https://example.com"
    assert identity(access) == authorization("Bearer 17")


EXEC = {"apiVersion": "client.authentication.k8s.io/v1", "command": "login"}


@pytest.mark.parametrize(
    ("config", "want"),
    [
        pytest.param("", "current-context: is not set", id="an empty file"),
        pytest.param("a: [", "is no YAML of a kubeconfig: line 1, column 5: ", id="no YAML"),
        pytest.param("- a\n", "the whole file: expected `object`, got `array`", id="a list"),
        pytest.param("[" * 5000, "nested deeper than the 64 levels", id="deep"),
        pytest.param(
            "users: [{name: u, user: {token: 77777777777777777777777777}}]",
            "line 1, column 33: …… is beyond a 64-bit integer",
            id="a token that is taken for a number",
        ),
        pytest.param(
            {**a_config(), "clusters": 5},
            "clusters: expected `array`, got `str`",
            id="a section of another shape",
        ),
        pytest.param(
            a_config(user={"token": ["a"]}),
            "users[0].user.token: expected `str`, got `array`",
            id="a field of another type",
        ),
        pytest.param(
            {**a_config(), "current-context": ""}, "(there are: x)", id="no context chosen"
        ),
        pytest.param(
            {**a_config(), "current-context": "z"},
            "current-context: there is no context 'z'; choose another (there are: x)",
            id="a context that is not there",
        ),
        pytest.param(
            a_config(context={"cluster": "z"}),
            "contexts[x].context.cluster: there is no cluster 'z'; add it under clusters",
            id="a cluster that is not there",
        ),
        pytest.param(
            a_config(context={"user": "z"}),
            "contexts[x].context.user: there is no user 'z'",
            id="a user that is not there",
        ),
        pytest.param(
            {**a_config(), "users": [{"name": "u"}, {"name": "u"}]},
            "users: two entries are named 'u'; rename one",
            id="two of a name",
        ),
        pytest.param(
            a_config({"server": ""}), "clusters[c].cluster.server: '' is no URL", id="no server"
        ),
        pytest.param(a_config({"server": "example.com:6443"}), "https://host:port", id="no scheme"),
        pytest.param(a_config({"server": "https://[::1"}), "is no URL", id="half an address"),
        pytest.param(a_config({"server": "https://a:b"}), "is no URL", id="no port"),
        pytest.param(
            a_config({"server": "https://me:hunter2@a"}), "server: this is no URL", id="a password"
        ),
        pytest.param(
            a_config({"certificate-authority": "nowhere.crt"}),
            "clusters[c].cluster.certificate-authority: cannot read",
            id="an authority that is not there",
        ),
        pytest.param(
            a_config({"certificate-authority-data": "%%%"}),
            "certificate-authority-data: is not base64",
            id="an authority that is not encoded",
        ),
        pytest.param(
            a_config(
                {"insecure-skip-tls-verify": True, "certificate-authority-data": encoded("x")}
            ),
            "insecure-skip-tls-verify: contradicts certificate-authority",
            id="trust and no trust",
        ),
        pytest.param(
            a_config({"proxy-url": "socks5://x"}),
            "clusters[c].cluster.proxy-url: only proxies of http:// and https://",
            id="a proxy of another kind",
        ),
        pytest.param(
            a_config(user={"client-certificate-data": encoded("x")}),
            "users[u].user.client-key: is missing",
            id="a certificate without a key",
        ),
        pytest.param(
            a_config(user={"tokenFile": "nowhere"}),
            "users[u].user.tokenFile: cannot read",
            id="a token file that is not there",
        ),
        pytest.param(
            a_config(user={"token": "a b\nc"}),
            "users[u].user.token: is no token",
            id="a token that no header can carry",
        ),
        pytest.param(
            a_config(user={"token": "t", "username": "me"}),
            "users[u].user.username: contradicts the token",
            id="a token and a password",
        ),
        pytest.param(
            a_config(user={"auth-provider": {"name": "gcp"}}),
            "users[u].user.auth-provider: Kubernetes has dropped these",
            id="a provider of old",
        ),
        pytest.param(
            a_config(user={"as-groups": ["g"]}),
            "users[u].user.as: is missing",
            id="groups of nobody",
        ),
        pytest.param(
            a_config(user={"as": "jane\r\nX-Evil: 1"}),
            "users[u].user.as: a name to act as holds what no header can carry",
            id="a name that would be two headers",
        ),
        pytest.param(
            a_config(user={"exec": {**EXEC, "command": ""}}),
            "users[u].user.exec.command: is missing",
            id="no program",
        ),
        pytest.param(
            a_config(
                user={"exec": {**EXEC, "apiVersion": "client.authentication.k8s.io/v1alpha1"}}
            ),
            "users[u].user.exec.apiVersion: 'client.authentication.k8s.io/v1alpha1' is not",
            id="a program of an old version",
        ),
        pytest.param(
            a_config(user={"exec": EXEC}),
            "users[u].user.exec.interactiveMode: must be set; choose from Never",
            id="a program that does not say whether it asks",
        ),
        pytest.param(
            a_config(user={"exec": {**EXEC, "interactiveMode": "Always"}}),
            "users[u].user.exec.interactiveMode: the program always asks, and there is no terminal",
            id="a program that asks where nobody is",
        ),
    ],
)
def test_what_is_wrong_is_said_with_the_file_the_field_and_the_remedy(
    file: Path, config: Any, want: str
) -> None:
    with pytest.raises(BadConfig) as raised:
        accessed(file, config)
    message = str(raised.value)
    assert message.startswith(f"{file}: ")
    assert want in message
    assert "; " in message
    assert "hunter2" not in message
    assert "\n" not in message


def test_files_that_are_not_there_are_named() -> None:
    with pytest.raises(BadConfig, match=r"^/no/a, /no/b: there is no such file; .*--kubeconfig"):
        find_access(surroundings(KUBECONFIG="/no/a:/no/b"))
    with pytest.raises(BadConfig, match=r"^/no/such: there is no such file"):
        find_access(surroundings(), file=Path("/no/such"))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00a", b"x" * (5 << 20)], ids=["no text", "huge"])
def test_what_is_no_kubeconfig_is_refused(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(BadConfig, match=str(file)):
        find_access(surroundings(), file=file)


def test_a_folder_is_no_kubeconfig(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="cannot be read: Is a directory; check the path"):
        find_access(surroundings(), file=tmp_path)


def test_no_secret_is_ever_shown(file: Path) -> None:
    user = {
        "token": "hunter2",
        "password": "hunter2",
        "client-key-data": encoded("hunter2"),
        "client-certificate-data": encoded("hunter2"),
        "exec": {"env": [{"name": "X", "value": "hunter2"}]},
    }
    cluster = {"proxy-url": "http://me:hunter2@proxy"}
    config = load([written(file, a_config(cluster, user))])
    access = kubeconfig.access(config, "", surroundings())
    assert identity(access).certificate is not None
    shown = f"{config!r} {access!r} {identity(access)!r} {identity(access).certificate!r}"
    assert "hunter2" not in shown
    assert encoded("hunter2") not in shown
