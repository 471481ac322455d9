"""Builds the wheel of freefloat (PEP 517) with nothing but Python and CMake; used by pip, and by `make wheel`:

    python3 python/backend.py FOLDER

One wheel serves every Python 3: the library is called by cffi in ABI mode. FREEFLOAT_BUILD names a build tree whose target
`python` is made already; without it build-release is configured and built."""
import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHIPPED = ("scenarios", "campaigns")  # found by their names, where the library looks: ../share/freefloat beside its folder
MODULES = ("xml.so", "zstd.so")  # of those that a run may load; the live page and MPI are the command's


def _version() -> str:
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(freefloat VERSION ([0-9.]+)", file.read()).group(1)


def _tag() -> str:
    return f"py3-none-linux_{platform.machine()}"


def _metadata() -> str:
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    return (f"Metadata-Version: 2.1\nName: freefloat\nVersion: {_version()}\n"
            "Summary: A position-controlled robot with a force-torque sensor that moves as a free-floating satellite would\n"
            "License: Apache-2.0\nRequires-Python: >=3.9\nRequires-Dist: cffi>=1.15\nRequires-Dist: numpy\n"
            'Provides-Extra: plots\nRequires-Dist: matplotlib; extra == "plots"\nRequires-Dist: pandas; extra == "plots"\n'
            f"Description-Content-Type: text/markdown\n\n{readme}")


def _built() -> str:
    """The package in a build tree."""
    tree = os.environ.get("FREEFLOAT_BUILD")
    if not tree:
        tree = os.path.join(ROOT, "build-release")
        subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True, stdout=sys.stderr)
        subprocess.run(["cmake", "--build", tree, "--target", "python", "-j", str(os.cpu_count() or 1)], check=True,
                       stdout=sys.stderr)
    package = os.path.join(tree, "python", "freefloat")
    if not os.path.exists(os.path.join(package, "_host.py")):
        raise SystemExit(f"{package} is not built: cmake found no Python with cffi and numpy (python3-cffi, python3-numpy)")
    return package


def _strip(path: str, scratch: str) -> str:
    copy = os.path.join(scratch, os.path.basename(path))
    shutil.copy(path, copy)
    if shutil.which("strip"):
        subprocess.run(["strip", "--strip-unneeded", copy], check=True)
    return copy


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package, version = _built(), _version()
    info = f"freefloat-{version}.dist-info"
    name = f"freefloat-{version}-{_tag()}.whl"
    record = []
    with tempfile.TemporaryDirectory() as scratch, \
            zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(path, data):
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))  # the same bytes from the same files
            entry.external_attr = (0o755 if path.endswith((".so", ".so.1")) else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}")

        def add_file(path, source):
            with open(source, "rb") as file:
                add(path, file.read())
        for file in sorted(os.listdir(package)):
            if file.endswith(".py") or file == "py.typed":
                add_file(f"freefloat/{file}", os.path.join(package, file))
        native = os.path.join(package, "_native")
        add_file("freefloat/_native/libfreefloat-host.so.1", _strip(os.path.join(native, "libfreefloat-host.so.1"), scratch))
        for module in MODULES:
            source = os.path.join(native, "modules", module)
            if os.path.exists(source):
                add_file(f"freefloat/_native/modules/{module}", _strip(source, scratch))
        for folder in SHIPPED:
            for where, inner, files in os.walk(os.path.join(ROOT, folder)):
                inner.sort()
                for file in sorted(files):
                    source = os.path.join(where, file)
                    add_file(f"freefloat/share/freefloat/{os.path.relpath(source, ROOT)}", source)
        add(f"{info}/METADATA", _metadata().encode())
        add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: freefloat\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode())
        wheel.writestr(f"{info}/RECORD", "\n".join(record + [f"{info}/RECORD,,", ""]))
    return name


def build_sdist(sdist_directory, config_settings=None):
    """What git holds."""
    base = f"freefloat-{_version()}"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    with tempfile.TemporaryDirectory() as scratch, \
            tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz") as archive:
        info = os.path.join(scratch, "PKG-INFO")
        with open(info, "w", encoding="utf-8") as file:
            file.write(_metadata())
        archive.add(info, f"{base}/PKG-INFO")
        for path in listed:
            archive.add(os.path.join(ROOT, path), f"{base}/{path}", recursive=False)
    return base + ".tar.gz"


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
