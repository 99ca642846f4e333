"""What runs programs for a GPU on machines that have none, for tests."""
