"""Makes a page that shows a program's source beside all stages of it, line by line."""
