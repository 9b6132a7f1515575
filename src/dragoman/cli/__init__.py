"""The verbs: what a person types. Knows the other rooms; nobody knows it. Starts at once, so it imports late."""
