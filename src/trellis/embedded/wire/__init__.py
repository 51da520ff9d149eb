# SPDX-License-Identifier: Apache-2.0
"""What goes over the wire and how: discovery, media types, tables, query options, protobuf.

Nothing here reads or writes the store.
"""
