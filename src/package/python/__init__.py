"""Where the program of this package is: run it as `rolldbg`, or as `python -m rolldbg`."""

import importlib.metadata
import os


def program():
    """The path of the installed program; FileNotFoundError if it is gone."""
    package = importlib.metadata.distribution("rolldbg")
    for name in package.files or ():
        if name.parts[-2:] == ("bin", "rolldbg"):
            path = os.path.normpath(package.locate_file(name))
            if os.access(path, os.X_OK):
                return path
    # pip install --target leaves no entry for what it moved
    path = os.path.normpath(os.path.join(os.path.dirname(__file__), "..", "bin", "rolldbg"))
    if os.access(path, os.X_OK):
        return path
    raise FileNotFoundError("the program rolldbg is not where it was installed; run: pip install --force-reinstall rolldbg")
