"""What is left out of the executable, and why: all that is unpacked is unpacked at each start.

Measured on Linux x86_64: an executable that unpacks 22 MB takes 33 ms to do nothing at all, one that unpacks
9 MB takes 20 ms. The lists are kept by hand; `tests/frozen` runs the program's commands in the executable and
notices what is cut too deep.
"""

from __future__ import annotations

import sys

# Modules the standard library imports "if there", which would bring a shared library each.
NO_OPENSSL = ["ssl", "_ssl", "_hashlib"]  # hashlib has SHA-2 and BLAKE2 without it; -5.5 MB
NO_FOREIGN_FUNCTIONS = ["ctypes", "_ctypes"]  # libffi
NO_COMPRESSION = ["bz2", "_bz2", "lzma", "_lzma", "gzip", "zipfile", "tarfile"]  # zlib stays: wsproto names it
NO_TERMINAL_LIBRARIES = ["readline", "rlcompleter", "curses", "_curses", "tkinter", "_tkinter"]
NO_PARSERS = ["xml", "pyexpat", "_elementtree", "xmlrpc", "plistlib", "csv", "_csv"]
NO_ARITHMETIC = ["decimal", "_decimal", "_pydecimal", "fractions", "statistics", "_statistics"]

# Character sets of mail and web pages of the last century: memlite reads and writes UTF-8.
NO_CHARACTER_SETS = ["_codecs_cn", "_codecs_hk", "_codecs_iso2022", "_codecs_jp", "_codecs_kr", "_codecs_tw",
                     "_multibytecodec"]

# Whole fields the program has nothing to do with; bottle and click name some of them for rare options.
NO_CONCURRENCY_KITS = ["asyncio", "_asyncio", "multiprocessing", "_multiprocessing", "_posixshmem",
                       "concurrent.futures.process"]
NO_DEVELOPMENT = ["pdb", "bdb", "pydoc", "pydoc_data", "doctest", "unittest", "test", "cmd", "code", "codeop",
                  "py_compile", "distutils", "setuptools", "pkg_resources", "lib2to3", "cProfile", "profile",
                  "imaplib", "ftplib", "netrc", "webbrowser"]
NO_PACKAGE_METADATA = ["importlib.metadata", "importlib.resources"]  # the version is a constant
NO_TIME_ZONES = ["zoneinfo", "_zoneinfo"]
NO_LIBUUID = ["_uuid"]  # uuid makes random ids without it

# Named only in functions that are never called here: command lines of library modules, the new e-mail API,
# what hashlib says when a hash is missing.
NO_UNCALLED = ["argparse", "getopt", "logging", "pprint", "tracemalloc", "imp", "email.policy",
               "email.headerregistry", "email._header_value_parser", "email.contentmanager"]

# What bottle offers to run under or with, in case the building environment happens to hold it.
NO_OTHER_SERVERS = ["waitress", "cheroot", "cherrypy", "paste", "meinheld", "fapws", "tornado", "twisted",
                    "diesel", "gevent", "gunicorn", "eventlet", "rocket", "bjoern", "aiohttp", "uvloop",
                    "flup"]
NO_OTHER_TEMPLATES = ["mako", "jinja2", "Cheetah", "simplejson", "cPickle", "typing_extensions"]

EXCLUDED = [*NO_OPENSSL, *NO_FOREIGN_FUNCTIONS, *NO_COMPRESSION, *NO_TERMINAL_LIBRARIES, *NO_PARSERS,
            *NO_ARITHMETIC, *NO_CHARACTER_SETS, *NO_CONCURRENCY_KITS, *NO_DEVELOPMENT, *NO_PACKAGE_METADATA,
            *NO_TIME_ZONES, *NO_LIBUUID, *NO_UNCALLED, *NO_OTHER_SERVERS, *NO_OTHER_TEMPLATES]

# The interpreter needs these before it can run the bootstrap, from a zip that is unpacked at each start.
# UTF-8 mode is switched on in the executable, so no other encoding is asked for that early, whatever the
# locale. Python 3.11 and later have the modules in the interpreter's library.
ENCODINGS_AT_START = {"__init__", "aliases", "utf_8", "mbcs"}
MODULES_AT_START = {"abc", "codecs", "io", "os", "stat", "genericpath", "posixpath", "ntpath",
                    "_collections_abc"}
ENCODINGS = {*ENCODINGS_AT_START, "ascii", "latin_1", "idna", "punycode", "utf_8_sig", "utf_16", "utf_16_le",
             "utf_16_be", "cp1252", "cp437"}

# Unpacked at each start by the bootloader, so that a temporary directory which can't hold them is noticed
# before a hook has read its input and the hook can be tried again elsewhere. All others are unpacked when
# imported.
EXTENSIONS_AT_START = {"_json", "_sqlite3"}

# Only there are extension modules free of paths relative to their neighbours, so only there may one be
# unpacked by itself. Elsewhere the bootloader unpacks them all.
LATE_EXTENSIONS = sys.platform == "linux"
