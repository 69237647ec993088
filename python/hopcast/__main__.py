"""`python -m hopcast`: the command line."""

from hopcast.start import main

main()
