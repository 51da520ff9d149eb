# SPDX-License-Identifier: Apache-2.0
"""ClusterTopology: the levels of the network, kept as configured, and told to schedulers.

`reconciler` acts; everything else decides and does no I/O.
"""
