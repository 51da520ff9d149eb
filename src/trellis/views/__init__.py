# SPDX-License-Identifier: Apache-2.0
"""What people are shown of objects, decided from the objects alone. No I/O, no clock."""
