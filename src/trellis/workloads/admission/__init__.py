# SPDX-License-Identifier: Apache-2.0
"""What may be written as a PodCliqueSet, and how it may be scaled: a review in, a verdict out.

Everything here is pure. It never writes, never asks a server, and never counts up to a number that
a user wrote.
"""
