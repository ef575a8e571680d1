"""The terminal interface: screens, widgets and one gateway to the memvault client."""
