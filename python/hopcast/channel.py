"""The simulator's own curves of reception and propagation, for choosing distances and powers before a run.

`frame_error_rates(standard, rate, octets, snr_db)` is the share of frames of this length that are lost at each ratio of
signal to noise, in dB. `log_distance_gains(frequency, exponent, reference, distances)` is the gain in dB over each
distance in metres, with free space up to the reference distance; the frequency is in Hz.
"""

from __future__ import annotations

from hopcast._core import frame_error_rates, log_distance_gains

__all__ = ["frame_error_rates", "log_distance_gains"]
