"""Install axe-core, which finds what keeps people out: `python -m tests.browser.install`. What is there already is left alone."""

import sys
from pathlib import Path

from tests import npm

FOLDER = Path(__file__).parents[2] / ".cache" / "browser"
VERSION = "4.14.0"
AXE = FOLDER / "axe" / "node_modules" / "axe-core" / "axe.min.js"

if __name__ == "__main__":
    complaint = "" if AXE.exists() else npm.install({"axe-core": VERSION}, FOLDER / "axe", FOLDER / "npm")
    print(f"axe-core {VERSION}: failed, {complaint}" if complaint else f"axe-core {VERSION}: installed")
    sys.exit(bool(complaint))
