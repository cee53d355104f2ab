"""Objectives: how a document becomes inputs, targets and scored positions, one file each."""
