"""Widgets: they draw and post messages in the past tense; screens decide."""
