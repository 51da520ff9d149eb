# SPDX-License-Identifier: Apache-2.0
"""What must always hold, looked after while it runs: the simulation's invariants on live caches.

It only reads and counts. `checks` says what is wrong with one object; `auditor` looks at all of
them now and then.
"""
