# SPDX-License-Identifier: Apache-2.0
"""Why a pod cannot be on a node: each filter looks at one thing, in the order of the real one."""
