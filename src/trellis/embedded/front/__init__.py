# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 on sockets, with or without TLS, for whoever answers an `Ask`.

It knows nothing of Kubernetes but the words for a body that is too large.
"""

from trellis.embedded.front.server import NotLoopback, Server

__all__ = ["NotLoopback", "Server"]
