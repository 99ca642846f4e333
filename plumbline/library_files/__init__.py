"""The files of a library to ship, from a program: for aot_library and for the command line."""
