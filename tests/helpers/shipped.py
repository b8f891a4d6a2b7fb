"""The modules of the package as it is installed, found in a checkout that may hold an environment, too."""

from pathlib import Path

import mem0_dream

PACKAGE = Path(mem0_dream.__file__).parent
FOLDERS = ("models", "indexes", "pipeline", "integrations")


def shipped_modules() -> list[Path]:
    """The files of all modules that the package ships, in the order of their names."""
    inside = (path for folder in FOLDERS for path in (PACKAGE / folder).rglob("*.py"))
    return sorted([*PACKAGE.glob("*.py"), *inside])
