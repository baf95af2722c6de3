"""Studies too long for a notebook: each module makes one table of data/results."""
