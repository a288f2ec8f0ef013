"""Loads the memory into a Jupyter server: its settings, and the service that its routes and events share."""

from __future__ import annotations

import atexit
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_server.services.contents.filemanager import FileContentsManager
from traitlets import Bool, Bunch, Int, TraitError, Unicode, validate
from traitlets.config import Configurable

from jupyter_memory.config import load_config
from jupyter_memory.server.handlers import routes
from jupyter_memory.server.serializers import Root
from jupyter_memory.server.service import Service
from jupyter_memory.text.paths import plain_path

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


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
    allow_outside_root = Bool(
        False,
        help="Whether the panel may index and watch paths outside of the folder that Lab shows; hidden ones only with "
        "ContentsManager.allow_hidden. Off: those that notebooks or the command line indexed are found and can be "
        "removed, but the server does not look at their files.",
    ).tag(config=True)
    threads = Int(4, min=1, max=64, help="How many searches run at the same time.").tag(config=True)

    @validate("root")
    def _a_folder(self, proposal: Bunch) -> str:
        root = str(proposal.value)
        if root and not os.path.isdir(root):  # noqa: PTH112  a folder without permission is none
            raise TraitError(
                f"JupyterMemoryServer.root: {root} is not a folder. Name the one that Lab's files begin at."
            )
        return root


def load(server: ServerApp) -> Service:
    """Add the routes to a server, and return what they share."""
    problems: list[str] = []
    settings = load_config(more={"the server's configuration": server.config}, on_problem=problems.append)
    for problem in problems:
        server.log.warning("jupyter-memory: %s", problem)
    limits = JupyterMemoryServer(parent=server)
    manager = server.contents_manager
    # Every contents manager has a root_dir, by default "/", but only for this one it is a folder. The settings name one
    # for a manager that does not know its own.
    folder = limits.root or (manager.root_dir if isinstance(manager, FileContentsManager) else "")
    root = Root(None, outside=limits.allow_outside_root)
    if os.path.isdir(folder):  # noqa: PTH112  a folder without permission is none
        # Links are followed: kernels run in the folder that they lead to, and index it by that name.
        root = replace(root, folder=str(plain_path(Path(folder).resolve())), hidden=bool(manager.allow_hidden))
    service = Service(server, settings, root, problems, only_user=limits.only_user, threads=limits.threads)
    web_app: Any = server.web_app
    web_app.settings["jupyter_memory_service"] = service
    web_app.add_handlers(".*$", routes(web_app.settings["base_url"], service))
    atexit.register(service.close)
    return service
