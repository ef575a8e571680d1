"""memvault: an encrypted, on-device memory for one person and the agents that work for them."""

__version__ = "0.1.0"
PROTOCOL = 1
"""Version of the socket protocol; a client and a daemon that differ refuse each other."""
