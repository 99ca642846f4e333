"""The reference of the TCP dialect."""
