"""Random numbers for models written in Python.

A model that draws random numbers gets one stream, or several if it tells several things apart. The numbers depend
only on the scenario, the seed of the run and the purpose of the stream. So a run can be repeated, and extra draws of
one model change no other numbers.
"""

from hopcast._core import Stream, Streams

__all__ = ["Stream", "Streams"]
