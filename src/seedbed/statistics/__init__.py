"""Statistics: what a few seeds allow to conclude. It imports no torch, and of Seedbed only the bottom modules."""
