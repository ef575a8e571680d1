"""`memvault demo`: the whole program shown on a throwaway vault, through the same doors everybody uses."""
