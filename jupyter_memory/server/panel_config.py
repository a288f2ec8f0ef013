"""The settings of the server side alone; those of the store are ``JupyterMemory``'s, shared with the kernels."""

from __future__ import annotations

import os

from traitlets import Bunch, Int, TraitError, Unicode, validate
from traitlets.config import Configurable


class JupyterMemoryServer(Configurable):  # type: ignore[misc,unused-ignore]
    """What the panel's server may do: ``c.JupyterMemoryServer.only_user = "ada"`` in ``jupyter_server_config.py``."""

    only_user = Unicode(
        "",
        help="The one user name that may use the memory through this server; empty: every user of the server.",
    ).tag(config=True)
    root = Unicode(
        "",
        help="The folder of this machine that Lab's paths begin at, where the contents manager joins several folders "
        "and cannot say it, as with jupyter-fs; empty: what the contents manager says.",
    ).tag(config=True)
    threads = Int(4, min=1, max=64, help="How many searches run at the same time.").tag(config=True)

    @validate("root")
    def _a_folder(self, proposal: Bunch) -> str:
        root = str(proposal.value)
        if root and not os.path.isdir(root):  # noqa: PTH112  a folder that nobody may look into is none
            raise TraitError(f"JupyterMemoryServer.root: {root} is no folder. Name the one that Lab's files begin at.")
        return root
