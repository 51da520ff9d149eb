# SPDX-License-Identifier: Apache-2.0
"""The few kube controllers that an embedded cluster needs. They know the API, and no server.

To be read in this order: `run` starts them all; `kinds` are the objects as they are read here and
`pen` is how they are written; `collecting` (garbage, namespaces) stands on a `census` of every
object there is; the others are one file or folder each, with what they decide apart from what they
do.
"""
