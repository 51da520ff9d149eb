# SPDX-License-Identifier: Apache-2.0
"""Ground for breaking things on purpose: time that jumps, an order that a seed decides, crashes.

What runs on it is the real thing: API core, controllers, nodes. It imports none of them.
"""
