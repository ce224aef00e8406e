"""Writes a wheel that contains the Python client and the program. The same input results in the same bytes."""

import argparse
import base64
import hashlib
import os
import time
import tomllib
import zipfile

# The oldest time that a ZIP archive can contain: 1980-01-01.
EARLIEST = 315532800


def files_in(folder):
    """Returns the paths of all files in a folder, relative to it, without compiled Python."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        found += [os.path.relpath(os.path.join(place, name), folder) for name in names if not name.endswith(".pyc")]
    return sorted(found)


class Wheel:
    """A wheel that is being written."""

    def __init__(self, path, epoch):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6)
        self.time = time.gmtime(max(epoch, EARLIEST))[:6]
        self.record = []

    def add(self, name, content, is_executable=False):
        """Adds a file and its line of RECORD."""
        info = zipfile.ZipInfo(name, self.time)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.create_system = 3   # Unix, so that the permissions count
        info.external_attr = (0o100755 if is_executable else 0o100644) << 16
        self.archive.writestr(info, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}")

    def add_folder(self, source, target):
        """Adds all files of a folder."""
        for name in files_in(source):
            path = os.path.join(source, name)
            with open(path, "rb") as file:
                self.add(f"{target}/{name}", file.read(), os.access(path, os.X_OK))

    def finish(self, information):
        """Adds RECORD, which lists itself without a digest, and closes the archive."""
        self.add(f"{information}/RECORD", "".join(line + "\n" for line in [*self.record, f"{information}/RECORD,,"]).encode())
        self.archive.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("output", "client", "program", "licences", "version", "license", "tag"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--epoch", required=True, type=int)
    options = parser.parse_args()

    with open(os.path.join(options.client, "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)["project"]
    with open(os.path.join(options.client, project["readme"]), encoding="utf-8") as file:
        description = file.read()
    name = f"{project['name']}-{options.version}"
    information = f"{name}.dist-info"
    licences = files_in(options.licences)
    metadata = [
        "Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {options.version}", f"Summary: {project['description']}",
        f"License-Expression: {options.license}", *(f"License-File: {each}" for each in licences),
        *(f"Classifier: {each}" for each in project["classifiers"] if each != "Operating System :: POSIX"),
        "Classifier: Operating System :: POSIX :: Linux", f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {each}" for each in project["dependencies"]), "Description-Content-Type: text/markdown", "", description,
    ]
    entry_points = []
    for group, entries in project["entry-points"].items():
        entry_points += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]

    wheel = Wheel(os.path.join(options.output, f"{name}-py3-none-{options.tag}.whl"), options.epoch)
    wheel.add_folder(os.path.join(options.client, "src", "mintmark"), "mintmark")
    wheel.add_folder(options.program, "mintmark/_program")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "python-command"), "rb") as file:
        wheel.add(f"{name}.data/scripts/mintmark", file.read(), is_executable=True)
    wheel.add_folder(options.licences, f"{information}/licenses")
    wheel.add(f"{information}/METADATA", "\n".join(metadata).encode())
    wheel.add(f"{information}/WHEEL", f"Wheel-Version: 1.0\nGenerator: mintmark\nRoot-Is-Purelib: false\nTag: py3-none-{options.tag}\n".encode())
    wheel.add(f"{information}/entry_points.txt", "".join(line + "\n" for line in entry_points).encode())
    wheel.finish(information)


main()
