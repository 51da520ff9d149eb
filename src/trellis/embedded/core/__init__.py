# SPDX-License-Identifier: Apache-2.0
"""The API server without sockets: a request in, an answer out, one commit at a time."""
