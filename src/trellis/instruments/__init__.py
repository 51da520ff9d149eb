# SPDX-License-Identifier: Apache-2.0
"""What every storey may use: clock, metrics, logs. It knows no kind."""
