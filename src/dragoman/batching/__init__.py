"""From shards to the micro-batches of a rank: which pairs make a step, who takes which, and their tensors."""
