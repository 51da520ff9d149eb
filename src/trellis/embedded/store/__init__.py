# SPDX-License-Identifier: Apache-2.0
"""Where the objects of the embedded cluster live: bytes, versions, history, watches, a journal.

To be read in this order:

- `records` is what is kept, `changes` what one commit did and what it means to a watcher.
- `store` commits, one change at a time; `shelf` is the objects of one resource; `cabinet` keeps
  them sorted, `history` remembers what they were.
- `interest` is what a watch wants, `hub` finds whom a change concerns, `subscription` lets it wait.
- `journal` keeps the changes in a file (`entries` in `frames`), `rewriting` keeps it short,
  `settling` waits for the disk.
- `problems` is what can go wrong.

It knows no kind, no HTTP and no selector: what to match comes in as callables.
"""
