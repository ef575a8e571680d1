"""The wire: JSON-RPC 2.0, one message a line."""
