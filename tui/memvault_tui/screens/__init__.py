"""Screens: they decide what a key does, through the gateway."""
