# SPDX-License-Identifier: Apache-2.0
"""Scaling groups: the PodCliques of their replicas, the claims these share, and how they are."""
