"""python -m rolldbg ARGUMENT..: becomes the program."""

import os
import sys

from . import program

os.execv(program(), ["rolldbg", *sys.argv[1:]])
