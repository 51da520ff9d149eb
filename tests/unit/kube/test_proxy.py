# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from trellis.kube.errors import BadConfig
from trellis.kube.proxy import proxy_for

PROXY = "http://proxy:3128"


@pytest.mark.parametrize(
    ("server", "environ", "want"),
    [
        pytest.param("https://a.example", {}, "", id="none"),
        pytest.param("https://a.example", {"HTTPS_PROXY": PROXY}, PROXY, id="for https"),
        pytest.param("https://a.example", {"https_proxy": PROXY}, PROXY, id="in small letters"),
        pytest.param("https://a.example", {"HTTP_PROXY": PROXY}, "", id="for another scheme"),
        pytest.param("http://a.example", {"HTTP_PROXY": PROXY}, PROXY, id="for http"),
        pytest.param("https://localhost:6443", {"HTTPS_PROXY": PROXY}, "", id="never to ourselves"),
        pytest.param("https://127.0.0.1:6443", {"HTTPS_PROXY": PROXY}, "", id="nor by address"),
        pytest.param("https://[::1]:6443", {"HTTPS_PROXY": PROXY}, "", id="nor by IPv6"),
    ],
)
def test_which_proxy_leads_there(server: str, environ: dict[str, str], want: str) -> None:
    assert proxy_for(server, environ) == want


@pytest.mark.parametrize(
    ("server", "exceptions", "direct"),
    [
        pytest.param("https://a.example.com", "*", True, id="everything"),
        pytest.param("https://a.example.com", "b.com, example.com", True, id="a domain"),
        pytest.param("https://example.com", "example.com", True, id="a domain itself"),
        pytest.param("https://example.com", ".example.com", False, id="subdomains only"),
        pytest.param("https://a.example.com", ".example.com", True, id="a subdomain"),
        pytest.param("https://badexample.com", "example.com", False, id="only whole labels"),
        pytest.param("https://example.com:6443", "example.com:6443", True, id="with its port"),
        pytest.param("https://example.com:6443", "example.com:443", False, id="with another port"),
        pytest.param("https://example.com", "example.com:443", True, id="with the usual port"),
        pytest.param("https://10.1.2.3", "10.0.0.0/8", True, id="a network"),
        pytest.param("https://11.1.2.3", "10.0.0.0/8", False, id="another network"),
        pytest.param("https://10.1.2.3", "10.1.2.3", True, id="an address"),
        pytest.param("https://[fd00::5]", "fd00::/8", True, id="a network of IPv6"),
        pytest.param("https://10.1.2.3", "10.0.0.0/99, ,", False, id="nonsense"),
    ],
)
def test_what_needs_no_proxy(server: str, exceptions: str, direct: bool) -> None:
    environ = {"HTTPS_PROXY": PROXY, "NO_PROXY": exceptions}
    assert (proxy_for(server, environ) == "") is direct


@pytest.mark.parametrize("proxy", ["socks5://me:secret@x", "http://", "http://[::1", "http://x:y"])
def test_a_proxy_of_another_kind_is_named_by_its_variable(proxy: str) -> None:
    with pytest.raises(BadConfig, match=r"^HTTPS_PROXY: only proxies of http://") as raised:
        proxy_for("https://a.example", {"HTTPS_PROXY": proxy})
    assert "secret" not in str(raised.value)
