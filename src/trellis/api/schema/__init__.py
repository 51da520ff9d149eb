# SPDX-License-Identifier: Apache-2.0
"""Schemas: those of Kubernetes' own kinds as data, and ours, made from our types."""
