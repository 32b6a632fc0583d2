"""Fetch pages over checked connections, and extract their text in a process that can be killed."""
