"""Builds ops of TCP, for the conversions that end there."""
