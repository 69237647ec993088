"""The report of a folder: `page` makes it, and `documents` reads and checks the files of runs and studies.

Importing the package alone loads no matplotlib: `hopcast compare` and `hopcast.open_run` read documents and draw nothing.
"""
