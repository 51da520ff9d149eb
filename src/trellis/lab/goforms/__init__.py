# SPDX-License-Identifier: Apache-2.0
"""Refreshes `embedded/natives/goforms.json` by reflection over Kubernetes' own types: `make gen`.

`main.go` beside this file is a program of the lab's module, never a part of its binary.
"""
