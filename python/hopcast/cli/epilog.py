"""What stands below the help of commands that show results."""

RESULTS = "What each field and column of results means: docs/results.md, or `hopcast schema --results`."
