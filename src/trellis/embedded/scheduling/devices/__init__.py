# SPDX-License-Identifier: Apache-2.0
"""Devices for claims: what there is on a node (`inventory`), which of it a request may have
(`selecting`), a choice that suits all requests (`search`), and how it is written (`results`). Pure.
"""
