"""Writes freefloat/_host.py, the calls of freefloat_host.h for cffi, ahead of time: at import nothing is parsed, and one
file serves every Python 3. usage: generate.py freefloat_host.h FOLDER"""
import os
import re
import sys

import cffi


def declarations(header: str) -> str:
    """The header without what cffi does not read: comments, directives, extern "C"."""
    text = re.sub(r"/\*.*?\*/", "", open(header, encoding="utf-8").read(), flags=re.S)
    text = re.sub(r"^\s*#(?!define FFH_ABI).*$", "", text, flags=re.M)
    text = re.sub(r'extern "C" \{', "", text)
    return re.sub(r"^\}\s*$", "", text, flags=re.M)


def main(header: str, folder: str) -> None:
    builder = cffi.FFI()
    builder.cdef(declarations(header))
    builder.set_source("freefloat._host", None)
    builder.emit_python_code(os.path.join(folder, "_host.py"))


if __name__ == "__main__":
    main(*sys.argv[1:])
