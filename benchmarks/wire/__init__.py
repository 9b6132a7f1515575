"""What each rung of the ladder is worth on links of any rate."""
