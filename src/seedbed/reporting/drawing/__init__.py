"""Panels of figures: what they hold, and how they are drawn as SVG."""
