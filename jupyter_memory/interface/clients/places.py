"""Where programs keep their configuration on macOS, Linux and Windows."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Places:
    """The home folder, the environment and the platform that decide where a file is."""

    home: Path = field(default_factory=Path.home)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    platform: str = sys.platform

    def named(self, variable: str, default: str) -> Path:
        """Return the folder that a variable names, else one below the home folder."""
        value = self.environment.get(variable, "")
        return Path(value) if value else self.home / default

    @property
    def application_data(self) -> Path:
        """Return the folder in which applications with windows keep their data."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self.named("APPDATA", "AppData/Roaming")
        return self.named("XDG_CONFIG_HOME", ".config")

    def packaged(self, pattern: str) -> Path | None:
        """Return the folder that Windows shows an application from a package (MSIX) in place of APPDATA, if any."""
        if self.platform != "win32":
            return None
        packages = self.named("LOCALAPPDATA", "AppData/Local") / "Packages"
        found = (folder / "LocalCache" / "Roaming" for folder in sorted(packages.glob(pattern)))
        return next((folder for folder in found if folder.is_dir()), None)
