# SPDX-License-Identifier: Apache-2.0
"""The default scheduler of the embedded cluster: gives every pod that waits a node and its devices.

It is for this cluster only: everywhere else the real kube-scheduler does that.

- `pods`, `nodes`, `dra` are the kinds as far as they are read here. `wishes` is what a pod asks
  for, worked out once; `rooms` is what a node has left, kept up to date; `world` holds them all.
- `decide` takes a wish and the world and returns a decision, with `filters`, `scores`, `devices`,
  `claims`, `judging`, `preempting` and the words of `explaining`. All of that is pure.
- `keeping` tells the world what the cluster tells; `pending` is the order in which pods are looked
  at; `act` writes what was decided; `run` joins them.
"""
