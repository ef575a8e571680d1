"""Writing memvault into the configuration of agent hosts, and out of it again.

Knows the hosts' files and formats. Knows nothing of the vault: the grant is the command's business.
"""
