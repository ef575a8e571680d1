"""The command line: parses arguments, asks the daemon through `memvault.client`, prints.

Opens no vault file itself.
"""
