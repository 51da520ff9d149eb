# SPDX-License-Identifier: Apache-2.0
"""The wiring: which controllers and webhooks there are, and what a cluster needs to run them."""
