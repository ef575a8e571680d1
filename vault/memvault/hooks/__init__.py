"""What an agent host's hooks tell of a conversation: whether to recall, and what to propose. Pure rules."""
