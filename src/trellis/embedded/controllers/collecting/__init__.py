# SPDX-License-Identifier: Apache-2.0
"""What goes when something else goes: the dependents of owners, the content of namespaces."""
