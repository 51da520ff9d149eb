# SPDX-License-Identifier: Apache-2.0
"""CustomResourceDefinitions: what one may say, how it comes to be served, and what it serves."""
