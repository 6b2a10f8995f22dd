"""The first code that runs inside the executable: importing from one archive, then `memlite.__main__.main`.

PyInstaller's own importer costs a hook a fifth of its start: it reads a compressed archive through `zlib`
and `struct`, two more shared libraries, and its bootloader writes every extension module to the temporary
directory before the first line of Python runs. This one reads plain `marshal` code straight from the
executable and unpacks an extension module only when it is imported. `module_archive.py` writes what is read
here.

The executable is opened once and kept open, so a worker that runs on while the plugin is updated can still
import.
"""

import io
import marshal
import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import ExtensionFileLoader
from _thread import allocate_lock

MODULE, PACKAGE, EXTENSION, DATA = range(4)  # the kinds of entry; module_archive.py has the same line


class Archive:
    """Meta path finder and loader of all modules, extension modules and data files in the executable."""

    def __init__(self, place):
        """Open the archive at `place`: the path of the executable, `?` and the archive's offset in it."""
        path, _, start = place.rpartition("?")
        self.file = io.FileIO(path)
        self.lock = allocate_lock()  # seek and read are two steps, and imports happen in threads
        self.start = int(start)
        length = int.from_bytes(self.read(0, 8), "little")
        self.contents = marshal.loads(self.read(8, length))
        self.start += 8 + length

    def read(self, offset, length):
        """`length` bytes, `offset` bytes after the archive's directory."""
        with self.lock:
            self.file.seek(self.start + offset)
            return self.file.read(length)

    def content(self, name):
        """The bytes of the entry `name`, unpacked."""
        _, offset, length, _, packed = self.contents[name]
        if not packed:
            return self.read(offset, length)
        import zlib  # an extension module itself: only what few runs need is packed

        return zlib.decompress(self.read(offset, length))

    def find_spec(self, name, path=None, target=None):
        """The spec of module `name`, or None when it is not in the archive."""
        entry = self.contents.get(name)
        if entry is None or entry[0] == DATA:
            return None
        kind, offset, length, file, _ = entry
        origin = os.path.join(sys._MEIPASS, file)
        if kind == EXTENSION:
            self.unpack(origin, offset, length)
            spec = ModuleSpec(name, ExtensionFileLoader(name, origin), origin=origin)
            spec.has_location = True
            return spec
        spec = ModuleSpec(name, self, origin=origin, is_package=kind == PACKAGE)
        if kind == PACKAGE:
            spec.submodule_search_locations.append(os.path.dirname(origin))
        return spec

    def unpack(self, target, offset, length):
        """Write an extension module to the temporary directory, which the parent process removes."""
        if os.path.exists(target):
            return
        part = f"{target}.{os.getpid()}"
        try:
            with io.FileIO(part, "x") as file:
                file.write(self.read(offset, length))
            os.replace(part, target)
        except OSError as failure:
            name = os.path.basename(target)
            raise ImportError(f"can't unpack {name} into {sys._MEIPASS}: {failure.strerror}; set TMPDIR to a "
                              "folder with 20 MB of free space") from failure

    def create_module(self, spec):
        """None: the interpreter makes the module object."""

    def exec_module(self, module):
        """Run the code of `module` in its namespace."""
        module.__file__ = module.__spec__.origin
        exec(self.get_code(module.__spec__.name), module.__dict__)

    def get_code(self, name):
        """The code object of module `name`. Raises ImportError."""
        if name not in self.contents:
            raise ImportError(f"no module {name} in the executable", name=name)
        return marshal.loads(self.content(name))

    def get_source(self, name):
        """None: the executable holds no source."""

    def is_package(self, name):
        """Whether module `name` is a package."""
        return self.contents[name][0] == PACKAGE

    def get_data(self, path):
        """The bytes of the data file at `path` beside a module's `__file__`. Raises FileNotFoundError."""
        name = os.path.relpath(path, sys._MEIPASS).replace(os.sep, "/")
        if name not in self.contents or self.contents[name][0] != DATA:
            raise FileNotFoundError(2, "not in the executable", path)
        return self.content(name)


def leave_no_traces(environment):
    """Take the bootloader's marks out of `environment`, so that programs started from here find none.

    Without this git would load the bundled libraries, and a worker started from a hook would look for its
    modules in the hook's temporary directory, which is gone when the hook ends.
    """
    for name in [name for name in environment if name.startswith("_PYI_")]:
        del environment[name]
    if sys.platform == "linux":
        before = environment.pop("LD_LIBRARY_PATH_ORIG", None)
        if before is None:
            environment.pop("LD_LIBRARY_PATH", None)
        else:
            environment["LD_LIBRARY_PATH"] = before


def run(main):
    """Call `main` and end the process with its exit code, at once: nothing is left to be done, and the system
    frees the memory in a tenth of the time the interpreter takes to (3 ms)."""
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
        threading = sys.modules.get("threading")
        if not isinstance(code, int) or (threading and threading.active_count() > 1):
            raise
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError):  # no such stream, or its reader has gone
            pass
    if sys.memlite_launcher and os.getppid() != sys.memlite_launcher:
        remove_unpacked(sys._MEIPASS)
    os._exit(code & 0xFF)


def launcher_of(folder):
    """The process that unpacked `folder`, waits for this one and then removes it; 0 where there is none.

    The bootloader names the folder _MEI, its process in eight hexadecimal digits, and six random characters.
    Asking for the parent process instead would be wrong when the launcher was killed before the question.
    """
    name = os.path.basename(folder)
    try:
        return int(name[4:12], 16) if name.startswith("_MEI") and len(name) == 18 and os.name == "posix" else 0
    except ValueError:
        return 0


def remove_unpacked(folder):
    """Remove the temporary directory, as the launcher would have done had it not been killed."""
    for path, folders, files in os.walk(folder, topdown=False):
        for name in files:
            os.unlink(os.path.join(path, name))
        for name in folders:
            os.rmdir(os.path.join(path, name))
    os.rmdir(folder)


if __name__ == "__main__":
    sys.frozen = True
    sys.meta_path.insert(2, Archive(sys._pyinstaller_pyz))  # after what is in the interpreter
    sys.memlite_launcher = launcher_of(sys._MEIPASS)
    leave_no_traces(os.environ)
    from memlite.__main__ import main

    run(main)
