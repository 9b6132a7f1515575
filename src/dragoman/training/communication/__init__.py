"""How gradients cross the wire: cut into buckets, packed as the link needs it, timed."""
