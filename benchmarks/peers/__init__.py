"""Participants of the training benchmark: each trains for ever and counts its target tokens in a shared file."""
