"""The settings of the server side alone; those of the store are ``JupyterMemory``'s, shared with the kernels."""

from __future__ import annotations

from traitlets import Int, Unicode
from traitlets.config import Configurable


class JupyterMemoryServer(Configurable):  # type: ignore[misc,unused-ignore]
    """What the panel's server may do: ``c.JupyterMemoryServer.only_user = "ada"`` in ``jupyter_server_config.py``."""

    only_user = Unicode(
        "",
        help="The one user name that may use the memory through this server; empty: every user of the server.",
    ).tag(config=True)
    threads = Int(4, min=1, max=64, help="How many searches run at the same time.").tag(config=True)
