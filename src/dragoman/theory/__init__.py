"""Predictions from numbers alone: no torch, no files. What planning, training and reporting must agree on."""
