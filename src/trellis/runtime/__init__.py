# SPDX-License-Identifier: Apache-2.0
"""Controller machinery: what every controller stands on. It knows no kind of ours.

To be read in this order:

- `controller` declares what is reconciled and what wakes it; `outcome` is how a run ends; `io` is
  all that a run may do. Who writes a controller needs no more than these.
- `process` runs a list of controllers: caches first, then the `election`, then work in a `loop`,
  until it is told to stop (`stopping`); `health`, `contact`, `watchdog` and `collector` look after
  it, `env` holds what is passed to everybody.
- What is read: `cache`, kept by `informer`, found through `index`, small by `sharing`.
- What is to be done, in which order: `agenda`, waited on in `queue`, with `backoff`.
- What is written: `plan` and `difference` (on `plain` values) decide, `converge` and `parallel` do,
  `converged` tells; `keep` is for what has no owner; `status` writes to the object itself; all go
  through `writes`.
- `barrier` keeps decisions from being made on a cache that lacks our own last write.
- `notes` decides which events are sent, and `recorder` sends them.
"""
