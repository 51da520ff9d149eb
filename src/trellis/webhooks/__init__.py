# SPDX-License-Identifier: Apache-2.0
"""The admission server: certificates, the review codec, routing. It decides no policy."""
