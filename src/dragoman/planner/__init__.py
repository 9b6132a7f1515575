"""What a training will cost before it begins: a recipe and machines in; time, money, bytes and memory out. No torch."""
