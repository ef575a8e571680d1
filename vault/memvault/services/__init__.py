"""What memvault does, as functions on an open vault: the only layer that opens transactions."""
