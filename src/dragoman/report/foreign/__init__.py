"""Logs of other systems become a transcript, and a transcript becomes the same facts as a run of our own.

One module a format. What a log does not say stays None.
"""
