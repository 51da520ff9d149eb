# SPDX-License-Identifier: Apache-2.0
"""The kind of `scheduler.grove.io/v1alpha1`: what is placed all at once or not at all."""
