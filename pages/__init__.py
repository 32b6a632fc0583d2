"""The web app's pages."""
