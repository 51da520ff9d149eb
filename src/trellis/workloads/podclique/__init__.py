# SPDX-License-Identifier: Apache-2.0
"""The PodClique controller: it makes the pods that the ledger lists, and says how they are."""
