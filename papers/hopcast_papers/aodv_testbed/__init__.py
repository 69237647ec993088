"""A: AODV on a testbed of laptops with WaveLAN cards."""
