# SPDX-License-Identifier: Apache-2.0
"""The nouns: types and schemas of every kind. No I/O, and no knowledge of any controller."""
