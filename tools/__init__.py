"""The scripts behind the Makefile; no part of the installed package."""
