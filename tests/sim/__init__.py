# SPDX-License-Identifier: Apache-2.0
"""Breaking the operator on purpose: real controllers on the real API core, one thread, one seed.

A schedule is a value, a `Story`: what people and machines do, and what goes wrong when. The same
story always ends the same, so whatever it finds can be told, shrunk, kept and told again.
"""
