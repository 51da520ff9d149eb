# SPDX-License-Identifier: Apache-2.0
"""The lab: the real Kubernetes control plane on this machine, built, started and stopped.

It holds no tests and knows no kind of ours.
"""
