"""Objectives: how a document becomes inputs, targets and scored positions. Each objective is one file."""
