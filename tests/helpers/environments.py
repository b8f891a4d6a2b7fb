"""Fresh environments for what is built here; heavy packages are found where they are instead of downloaded."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

OFFLINE = {
    "PIP_NO_INDEX": "1",
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_BUILD_ISOLATION": "0",  # pip's own way to say: no isolation
    "PYTHONPATH": "",  # nothing of the checkout
}


def fresh_environment(venv: Path) -> Path:
    """A new environment that finds the packages of this one after its own; returns its Python."""
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True, timeout=300)
    see_what_is_installed_here(venv)
    return venv / "bin" / "python"


def see_what_is_installed_here(venv: Path) -> None:
    """Let an environment find the packages of this one; the image's Python brings no setuptools.

    A path that a .pth file names is searched, but its own .pth files are not read: what is installed as
    editable stays out.
    """
    site = next(venv.glob("lib/python*/site-packages"))
    for bundled in (*site.glob("setuptools*"), *site.glob("pkg_resources"), *site.glob("_distutils_hack")):
        shutil.rmtree(bundled)
    for hook in site.glob("distutils-precedence.pth"):
        hook.unlink()
    (site / "zz-here.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
