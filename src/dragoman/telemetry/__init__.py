"""What watches a run without touching it. Observes, never raises: telemetry may die, training may not."""
