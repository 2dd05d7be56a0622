"""How many items and labels a question asks for, before anyone labels one."""
