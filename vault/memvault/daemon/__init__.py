"""The process that owns the vault. The only one that opens the database."""
