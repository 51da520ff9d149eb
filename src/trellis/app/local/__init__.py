# SPDX-License-Identifier: Apache-2.0
"""Trellis on this machine: a cluster, the operator as its child process, and an example."""
