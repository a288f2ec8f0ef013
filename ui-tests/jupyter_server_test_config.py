"""JupyterLab for the browser tests: no token, a throw-away folder with the sample corpus, a store of its own."""

import os
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

from jupyterlab.galata import configure_jupyter_server

scratch = Path(os.environ["UI_SCRATCH"])
samples = Path(__file__).parent.parent / "notebooks" / "samples"
root = scratch / "root"
shutil.copytree(samples, root / "samples", dirs_exist_ok=True)
# A copy is as old as the checkout; give each file a day of its own, the one in its name where there is one.
for n, file in enumerate(sorted(path for path in root.rglob("*") if path.is_file())):
    named = re.match(r"\d{4}-\d\d-\d\d", file.name)
    day = datetime.fromisoformat(named[0]) if named else datetime(2026, 7, 1, tzinfo=UTC) + timedelta(days=4 * n)
    at = day.replace(hour=15, tzinfo=UTC).timestamp()
    os.utime(file, (at, at))

c = get_config()  # noqa: F821
configure_jupyter_server(c)
c.ServerApp.root_dir = str(root)
os.chdir(root)  # as for a user, who types `jupyter lab` in the folder
c.ServerApp.port = int(os.environ["UI_PORT"])
c.ServerApp.allow_root = True
c.ServerApp.log_level = "ERROR"  # Galata asks for files that are not there yet; warnings would bury the report
