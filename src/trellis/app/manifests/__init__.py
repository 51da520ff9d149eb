# SPDX-License-Identifier: Apache-2.0
"""What is applied to a cluster to install the operator, generated from what its parts declare.

Everything here is a pure function of declarations and an `Installation`; only `__main__` writes
files. No manifest is ever edited by hand.
"""
