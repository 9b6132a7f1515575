"""Measurements against peers: ratios taken in one run on one machine."""
