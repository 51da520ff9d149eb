# SPDX-License-Identifier: Apache-2.0
"""Talking to a Kubernetes API: client, credentials, watch, discovery, leases.

It knows no kind of ours; types to decode into are given by the caller.
"""
