"""The door of the vault: what may be written, and what a new claim does to the ones already there. Pure."""
