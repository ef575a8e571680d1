"""Scan of text for credentials, personal data, local names and prompt injection.

Owns the rules, the views that see through disguises, and the findings. Knows nothing of vaults, records or
git. Nothing here can be switched off from inside the text.
"""

from memvault_sync.scan.finding import Finding, Kind, View
from memvault_sync.scan.injection import injection
from memvault_sync.scan.scanner import Scanner, scan

__all__ = ["Finding", "Kind", "Scanner", "View", "injection", "scan"]
