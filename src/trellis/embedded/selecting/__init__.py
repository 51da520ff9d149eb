# SPDX-License-Identifier: Apache-2.0
"""Selectors of queries, by label and by field, with the real server's refusals."""

from trellis.embedded.selecting.fields import FieldSelector, parse_fields
from trellis.embedded.selecting.labels import LabelSelector, parse_labels

__all__ = ["FieldSelector", "LabelSelector", "parse_fields", "parse_labels"]
