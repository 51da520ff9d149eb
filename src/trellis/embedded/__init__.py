# SPDX-License-Identifier: Apache-2.0
"""A small Kubernetes-compatible cluster in this process: API server, nodes, a few controllers.

It never imports a room of our own controllers: it is what they are tested on.
"""
