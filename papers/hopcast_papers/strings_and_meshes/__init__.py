"""P: voice and TCP over strings and meshes with errors."""
