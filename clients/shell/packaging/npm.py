"""Writes the folders of two npm packages: the client `mintmark`, and the program for one platform, which is its optional dependency."""

import argparse
import json
import os
import shutil


def write(folder, package):
    """Writes package.json. The order of members is the one given, so that the same input results in the same bytes."""
    with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as file:
        json.dump(package, file, indent=2)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("output", "client", "program", "licences", "version", "license", "platform"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    system, machine = options.platform.split("-")
    program = f"@mintmark/{options.platform}"

    with open(os.path.join(options.client, "package.json"), encoding="utf-8") as file:
        package = json.load(file)
    client = os.path.join(options.output, "mintmark", "package")
    os.makedirs(os.path.join(client, "bin"))
    for each in package["files"]:
        shutil.copytree(os.path.join(options.client, each), os.path.join(client, each))
    shutil.copy(os.path.join(options.client, "README.md"), client)
    with open(os.path.join(here, "npm-command"), encoding="utf-8") as file, open(os.path.join(client, "bin", "mintmark"), "w", encoding="utf-8") as command:
        command.write(file.read().replace("@platform@", options.platform))
    os.chmod(os.path.join(client, "bin", "mintmark"), 0o755)
    write(client, {
        **package, "version": options.version, "license": options.license, "files": [*package["files"], "bin"],
        "bin": {"mintmark": "bin/mintmark"}, "optionalDependencies": {program: options.version},
    })

    folder = os.path.join(options.output, options.platform, "package")
    shutil.copytree(options.program, folder)
    shutil.copytree(options.licences, os.path.join(folder, "licences"))
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as file:
        file.write(f"# {program}\n\nThe program `mintmark` for {options.platform}. It is an optional dependency of the package `mintmark`.\n")
    write(folder, {
        "name": program, "version": options.version, "description": f"The program of Mintmark for {options.platform}.", "license": options.license,
        "os": [system], "cpu": [machine], "libc": ["glibc"], "files": ["mintmark", "bin", "licences"], "preferUnplugged": True,
    })


main()
