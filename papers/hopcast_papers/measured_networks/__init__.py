"""R: measurements of others, which hopcast may not contain."""
