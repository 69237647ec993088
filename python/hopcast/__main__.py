"""`python -m hopcast`: the command line."""

from hopcast.cli import main

main()
