# SPDX-License-Identifier: Apache-2.0
"""Pods that are to run for ever: ReplicaSets, Deployments, DaemonSets."""
