"""Serves a Python function over cog's HTTP API, as an engine: `python -m kiln_engine my.py`."""

from .runner import Cancelled
from .signature import Final, Range, engine, progress

__all__ = ["Cancelled", "Final", "Range", "engine", "progress"]
