# SPDX-License-Identifier: Apache-2.0
"""Slices of Kubernetes' own kinds: of each, the fields that somebody here reads or writes."""
