"""Dragoman trains a neural translation model on the machines you have, and tells you what happened."""

__version__ = "0.1.0"
