"""Hosts in, running workers out. Starts workers as command lines; never imports what they run."""
