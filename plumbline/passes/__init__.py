"""All passes and pipelines by name, and pipelines from text."""
