"""The command line. Nothing but the standard library is imported before a command runs."""
