"""Parallel text in, a training-ready corpus out: cleaned, counted, shuffled, in subwords, memory-mapped."""
