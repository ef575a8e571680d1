"""The encrypted database: the only package that speaks SQL. Knows nothing of services or callers."""
