"""What every room stands on: settings, records, paths, units, errors. Standard library only."""
