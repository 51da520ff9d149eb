# SPDX-License-Identifier: Apache-2.0
"""PodGangs: which pods start together, under which names, and when they are all made anew."""
