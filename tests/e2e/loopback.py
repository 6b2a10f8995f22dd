"""Cuts this process off from every network but loopback."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWNET = 0x40000000  # linux/sched.h
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1  # linux/sockios.h, linux/if.h


def keep_to_loopback() -> str:
    """Moves this process, and all it starts from now on, into a network namespace that holds only loopback.

    Returns "" when done, else why it could not be: that takes Linux and the right to make namespaces
    (root, commonly). Started threads stay where they are, so call it before starting any.
    """
    unshare = getattr(ctypes.CDLL(None, use_errno=True), "unshare", None)
    if unshare is None:
        return "this system has no network namespaces"
    if unshare(CLONE_NEWNET) != 0:
        return os.strerror(ctypes.get_errno())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))
    return ""
