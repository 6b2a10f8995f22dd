#!/usr/bin/env python3
"""Runs what tox.ini describes on a machine that has Python 3.10 or later, git and curl, and nothing else.

    python3 develop.py [--install] demo       build the executable, read a real session, find it again
    python3 develop.py [--install] tests      every check there is
    python3 develop.py [--install] NAME …     environments of tox.ini, such as `lint` or `py312`
    python3 develop.py NAME -- ARGUMENT …     … with arguments for the environment's command

tox comes into a virtual environment of its own under out/. What else the machine lacks is named, with the line that
installs it; with --install it is installed (on Debian and Ubuntu, through sudo where that is needed).
"""

# Read by the Python that happens to be there: nothing newer than 3.6 before the version is checked.
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec

ROOT = os.path.dirname(os.path.abspath(__file__))
TOX = "tox>=4.45,<5"
OLDEST = (3, 10)
VERSION = "{}.{}".format(*sys.version_info)
FREEZING = {"plugin", "demo", "tests"}  # environments that build the executable
CLIENT = {"e2e", "tests"}               # environments that install the client with npm


def missing(names):
    """What the machine lacks for these environments: a list of (what, the Debian packages that bring it)."""
    found = []
    if find_spec("venv") is None or find_spec("ensurepip") is None:
        found.append(("the venv module of Python", [f"python{VERSION}-venv"]))
    if not sys.platform.startswith("linux"):
        return found
    if FREEZING & names:
        if not has_shared_library():
            found.append(("the shared library of Python", [f"libpython{VERSION}"]))
        tools = [tool for tool in ("objcopy", "objdump", "strip") if shutil.which(tool) is None]
        if tools:
            found.append((", ".join(tools), ["binutils"]))
    if CLIENT & names and shutil.which("npm") is None:
        found.append(("npm, which installs the client for the end-to-end tests", ["npm"]))
    return found


def has_shared_library():
    """Whether this Python can be put into an executable: PyInstaller packs its shared library."""
    names = {sysconfig.get_config_var("INSTSONAME"), sysconfig.get_config_var("LDLIBRARY")}
    base = sysconfig.get_config_var("LIBDIR") or ""
    folders = (base, os.path.join(base, sysconfig.get_config_var("MULTIARCH") or ""))
    return any(".so" in name and os.path.exists(os.path.join(folder, name))
               for name in names if name for folder in folders)


def install_line(packages):
    """The commands that install Debian packages, or None where there is no apt or no way to become root."""
    if shutil.which("apt-get") is None:
        return None
    root = [] if os.geteuid() == 0 else ["sudo"]
    if root and shutil.which("sudo") is None:
        return None
    return [[*root, "apt-get", "update"],
            [*root, "apt-get", "install", "-y", "--no-install-recommends", *packages]]


def provide(names, install):
    """Install what is missing, or say how to. Returns whether all is there."""
    lacking = missing(names)
    if not lacking:
        return True
    say(f"this machine lacks {'; '.join(what for what, _ in lacking)}")
    packages = [package for _, some in lacking for package in some]
    commands = install_line(packages)
    if not install or commands is None:
        say(f"on Debian and Ubuntu, as root: apt-get install {' '.join(packages)}")
        if commands:
            say(f"or let it be done: python3 develop.py --install {' '.join(sorted(names))}")
        return False
    for command in commands:
        say("$ " + " ".join(command))
        environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        if subprocess.call(command, env=environment, stdout=subprocess.DEVNULL) != 0:
            say("that failed; its messages are above")
            return False
    still = missing(names)
    if still:
        say(f"still missing: {'; '.join(what for what, _ in still)}")
    return not still


def get_tox():
    """The command that runs tox, installed first if need be; None when that failed."""
    folder = os.path.join(ROOT, "out", f"develop-{VERSION}")
    python = os.path.join(folder, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))
    mark = os.path.join(folder, TOX.replace(">", "").replace("<", "").replace("=", "-"))
    if not os.path.exists(mark):
        say(f"installing tox into {os.path.relpath(folder, ROOT)}")
        for command in ([sys.executable, "-m", "venv", "--clear", folder],
                        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", TOX]):
            if subprocess.call(command) != 0:
                say(f"that failed: {' '.join(command)}")
                return None
        open(mark, "w").close()
    return [python, "-m", "tox"]


def say(text):
    """A line of talk to the person, apart from the output of the checks."""
    sys.stderr.write(f"develop: {text}\n")
    sys.stderr.flush()


def main(arguments):
    """Run the named environments. Returns the exit code."""
    if sys.version_info < OLDEST:
        say(f"this is Python {VERSION}; memlite is built with 3.10 or later")
        return 1
    own, rest = arguments, []
    if "--" in arguments:
        own, rest = arguments[:arguments.index("--")], arguments[arguments.index("--"):]
    names = [name for name in own if name != "--install"]
    if not names or any(name.startswith("-") for name in names):
        sys.stderr.write(__doc__)
        return 0 if set(names) & {"-h", "--help"} else 2
    if not provide(set(names), "--install" in own):
        return 1
    tox = get_tox()
    if tox is None:
        return 1
    chosen = [] if names == ["tests"] else ["-e", ",".join(names)]
    # Unbuffered, so that in a pipe too its lines stand where they belong between those of the checks.
    environment = dict(os.environ, PYTHONUNBUFFERED="1")
    code = subprocess.call([*tox, "run", "-qq", *chosen, *rest], cwd=ROOT, env=environment)
    if code != 0:
        say("not all went well; look for FAIL above")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
