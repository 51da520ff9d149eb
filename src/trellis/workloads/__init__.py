# SPDX-License-Identifier: Apache-2.0
"""PodCliqueSets: groups of pods that live and die together, from admission to their pods."""
