# SPDX-License-Identifier: Apache-2.0
"""Jobs: pods until enough of them succeeded or too many failed.

`facts` counts, `ending` says whether it is over, `managing` which pods to make and to drop,
`tracking` how that is accounted for; `deciding` joins them, `reconciler` does it.
"""
