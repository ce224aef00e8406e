"""The list of common passwords in the program (asvs 6.2.4)."""

import importlib.util
import os
import unittest

from cases import SidecarCase
from sidecar import ROOT

FOLDER = os.path.join(ROOT, "Sources", "CPasswordFilter")


def generator():
    specification = importlib.util.spec_from_file_location("generate", os.path.join(FOLDER, "generate.py"))
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
