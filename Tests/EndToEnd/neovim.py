"""Runs Neovim with its built-in client of the Language Server Protocol, either unpacked by Tests/run or installed on the machine."""

import json
import os
import shutil
import subprocess

from sidecar import ROOT, binary, clean_environment

PREFIX = os.path.join(ROOT, ".build", "neovim", "usr")

# Calls the methods in order and prints each response as a line of JSON.
SCRIPT = """
local command = vim.json.decode(vim.env.COMMAND)
local client = vim.lsp.rpc.start(table.remove(command, 1), command, {})
for _, call in ipairs(vim.json.decode(vim.env.CALLS)) do
  local answer
  client.request(call.method, call.params or vim.empty_dict(), function(err, result) answer = {error = err, result = result} end)
  if not vim.wait(20000, function() return answer end, 5) then answer = {error = "no answer"} end
  io.stdout:write(vim.json.encode(answer) .. "\\n")
end
vim.cmd("qa!")
"""


def program():
    """Returns the path of nvim, or None if it is not available."""
    unpacked = os.path.join(PREFIX, "bin", "nvim")
    return unpacked if os.path.exists(unpacked) else shutil.which("nvim")


def run(folder, options, calls):
    """Starts Neovim, which starts Mintmark with `options` and makes `calls`. Returns the responses as parsed JSON, and standard error."""
    script = os.path.join(folder, "client.lua")
    with open(script, "w", encoding="utf-8") as file:
        file.write(SCRIPT)
    environment = clean_environment(folder, {
        "COMMAND": json.dumps([binary(), "serve", *options]), "CALLS": json.dumps(calls),
        "XDG_CONFIG_HOME": folder, "XDG_STATE_HOME": folder, "XDG_DATA_HOME": folder, "XDG_CACHE_HOME": folder})
    if program().startswith(PREFIX):
        environment["VIMRUNTIME"] = os.path.join(PREFIX, "share", "nvim", "runtime")
        libraries = [os.path.join(PREFIX, "lib", each) for each in os.listdir(os.path.join(PREFIX, "lib")) if "linux-gnu" in each]
        environment["LD_LIBRARY_PATH"] = ":".join(libraries)
    done = subprocess.run(
        [program(), "--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", script], env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr
