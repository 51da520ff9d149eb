# SPDX-License-Identifier: Apache-2.0
"""Everybody in a cluster but the operator: nodes, scheduler, collector, users, adversaries."""
