"""Shared record format, scans, review and git transport for team memories; knows nothing of the vault."""
