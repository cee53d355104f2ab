"""Statistics: what may be said from a few seeds. No torch, and nothing of Seedbed but observations."""
