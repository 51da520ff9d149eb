# SPDX-License-Identifier: Apache-2.0
"""The start-order waiter, `trellis wait`: ends when every PodClique it is told of has enough pods
ready at the same time.

It runs in an init container of every pod that starts after others, so it stands on the standard
library alone, imports no other room, and starts fast. It reads the PodCliques it is told of and
never writes.

- `arguments`: for whom it waits. `access`: with whose rights, on which server.
- `tally`: how the parents stand, and whether that is enough. `events`: what a server tells. Pure.
- `exchange`: one request over HTTP/1.1. `following`: a list and a watch that do not give up.
- `run`: all of them together, as a program or within another one.
"""
