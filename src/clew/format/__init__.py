"""Bytes to entries and back, losslessly. Knows no paths and no meaning."""
