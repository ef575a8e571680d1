"""Compiling memories into the context of one task (SPEC 9). Pure: knows neither store nor socket."""
