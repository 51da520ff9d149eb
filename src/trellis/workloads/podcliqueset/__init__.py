# SPDX-License-Identifier: Apache-2.0
"""The controllers of PodCliqueSets: one for what a set has once, one for each of its replicas."""
