# SPDX-License-Identifier: Apache-2.0
"""Trellis: a GPU workload control plane for Kubernetes."""

__version__ = "0.1.0"
