"""What grows with what: time and memory of steps, resuming, preparation and reports."""
