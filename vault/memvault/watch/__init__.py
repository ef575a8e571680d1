"""Files that memories cite: reading them safely, finding names in them, hearing that they changed."""
