"""H: streams over 802.11a between laptops, one hop to four."""
