"""The library beside its peers: time, memory and accuracy. ``make bench`` runs it all."""
