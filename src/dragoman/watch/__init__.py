"""A run, looked at while it goes on or afterwards: in the terminal and on a page. Reads the run directory only."""
