"""Random numbers for models written in Python.

A model that draws is handed a stream when it is made, or streams: one for each thing that it tells apart. What it draws there follows
from the scenario, the seed of the run and what the stream is for, so that a run can be repeated, and no other draw moves when a model
draws more.
"""

from hopcast._core import Stream, Streams

__all__ = ["Stream", "Streams"]
