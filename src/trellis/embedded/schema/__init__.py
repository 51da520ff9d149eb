# SPDX-License-Identifier: Apache-2.0
"""What the fields of an object may be: decoding, pruning, defaulting and validating by schema."""
