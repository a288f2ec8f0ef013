"""JupyterLab for the browser tests: no token, a throw-away folder with the sample corpus, a store of its own."""

import os
import shutil
from pathlib import Path

from jupyterlab.galata import configure_jupyter_server

scratch = Path(os.environ["UI_SCRATCH"])
samples = Path(__file__).parent.parent / "notebooks" / "samples"
root = scratch / "root"
shutil.copytree(samples, root / "samples", dirs_exist_ok=True)

c = get_config()  # noqa: F821
configure_jupyter_server(c)
c.ServerApp.root_dir = str(root)
c.ServerApp.port = int(os.environ["UI_PORT"])
c.ServerApp.allow_root = True
c.ServerApp.log_level = "ERROR"  # Galata asks for files that are not there yet; warnings would bury the report
