"""The methods of the table, a file for each family."""
