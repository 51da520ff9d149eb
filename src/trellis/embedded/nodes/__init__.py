# SPDX-License-Identifier: Apache-2.0
"""Simulated nodes: a fleet file becomes Nodes, ResourceSlices, leases and kubelets in one process.

To be read in this order:

- What there is: `fleet` (the file's types), `loading`, `catalogue` (GPU models), `expanding` (from
  counts to nodes), `schema` (the file's JSON schema), `chance` (identities and jitter by seed).
- How it is told to the API: `bodies`, `slices`; `announcing` makes and removes them all.
- What goes wrong: `faults` (what ails a node now), `injecting` (how a person asks for it).
- Pods: `pods` (what is read of one), `behaviour` (what its annotations ask for), `course` and
  `life` (what happens to containers and pods), `statuses` (how that is written), `recovering`,
  `charges` (what a kubelet remembers), `claims`, `addresses`. All pure.
- What runs: `kubelets`, `tending` (node conditions), `heart` (leases), `waiters` (programs),
  `times`; `simulator` is all of it.

It speaks only the API, so it runs on any cluster. It never touches a node that it did not make.
"""
