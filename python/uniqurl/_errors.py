"""The exceptions. Each has a ``code``, the one that the command prints."""


class Error(Exception):
    """All errors of uniqurl."""

    @property
    def code(self):
        return self.args[0]

    def __str__(self):
        return self.args[-1]


class Rejected(Error, ValueError):
    """A URL has no canonical form under the profile: ``code`` is the first reason, ``at`` the byte offset
    in the URL where the problem starts, and ``codes`` holds all reasons."""

    def __init__(self, code, at, codes, message):
        super().__init__(code, at, codes, message)
        self.at = at
        self.codes = codes


class UsageError(Error, ValueError):
    """An argument is invalid, alone or together with another."""


class InputError(Error, OSError):
    """A file cannot be read. ``errno`` is the error number if the system refused."""

    def __init__(self, code, message, path, errno=None):
        Exception.__init__(self, code, message, path, errno)
        # As of any other OSError.
        self.errno, self.strerror, self.filename = errno, message, path
        self.path = path

    @property
    def code(self):
        return self.args[0]

    def __str__(self):
        return self.args[1]


class MissingError(InputError, FileNotFoundError):
    """A file does not exist."""


class RunError(Error):
    """A run ended early for a reason other than an input."""


class InternalError(Error):
    """A bug in uniqurl itself."""
