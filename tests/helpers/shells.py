"""Shells of IPython that leave nothing to do for the end of the process."""

import atexit
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


def made(**config: dict[str, Any]) -> InteractiveShell:
    """Make a shell without a history, configured by class: ``made(JupyterMemory={"limit": 4})``."""
    ip = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}} | config))
    # IPython would clear every shell there, each time with a walk through all of memory: minutes for some hundreds.
    atexit.unregister(ip.atexit_operations)
    return ip
