"""What happened in a run, answered from what it wrote down. Reads files, never touches training; needs no torch."""
