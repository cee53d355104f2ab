"""Placeholder until the demonstrations branch is merged."""

from __future__ import annotations

from typing import Any

DEMONSTRATIONS = "demonstrations"
Demonstration = Any
