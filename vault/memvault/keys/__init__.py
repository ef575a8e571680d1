"""Keys: how the one random vault key is kept, wrapped, opened and changed.

`ring` is the public surface; `header` is what HOME/vault.json says and `header_file` how it gets there and
back whole. Knows nothing of the database, the daemon or any screen. Nothing is imported here: the keychain
child loads this package in its five seconds.
"""
