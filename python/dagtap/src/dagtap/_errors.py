"""What the package raises and warns of."""

from __future__ import annotations

import errno
import os
from typing import Optional


class Error(OSError):
    """Something failed; the text says which file, the cause, and what to do if that is known.

    errno has the number of the cause, or is None if there is none; offset has the byte of the file
    at which it is damaged, if that is known.
    """

    __module__ = "dagtap"

    def __init__(
        self, message: str, code: Optional[int] = None, offset: Optional[int] = None
    ) -> None:
        super().__init__(message)
        self.errno = code
        self.message = message
        self.offset = offset

    def __str__(self) -> str:
        return self.message


class NotFoundError(Error, FileNotFoundError):
    """There is no such file."""

    __module__ = "dagtap"


class ExistsError(Error, FileExistsError):
    """The output exists, and was not to be replaced."""

    __module__ = "dagtap"


class DamageWarning(UserWarning):
    """A recording is damaged; what is left of it was read."""

    __module__ = "dagtap"


class NotRecordedWarning(UserWarning):
    """A part of the program was to be recorded, and the process is not under `dagtap record`."""

    __module__ = "dagtap"


class NotRecordedError(RuntimeError):
    """record(required=True) in a process that cannot be recorded."""

    __module__ = "dagtap"


def make_error(code: int, message: str, offset: Optional[int] = None) -> Error:
    """The exception for a call that returned -CODE."""
    kind = {errno.ENOENT: NotFoundError, errno.EEXIST: ExistsError}.get(code, Error)
    return kind(message or os.strerror(code), code, offset)
