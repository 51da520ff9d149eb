# SPDX-License-Identifier: Apache-2.0
"""The operator's configuration file, as a command reads it."""

from __future__ import annotations

from pathlib import Path

from trellis.api.config import InvalidConfiguration, Loaded, OperatorConfiguration, load
from trellis.app.local.operating import default_configuration
from trellis.cli.failure import BAD_INPUT, fail


def read_configuration(file: Path) -> Loaded:
    """Ends the command with a line for each fault of the file."""
    try:
        return load(file.read_text())
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{file}: cannot be read: {error}", BAD_INPUT)
    except InvalidConfiguration as error:
        lines = "\n".join(f"{file}: {line}" for line in str(error).splitlines())
        fail(lines, BAD_INPUT)


def local_configuration(file: Path | None) -> OperatorConfiguration:
    """For an operator that is started here; without a file, what is worth trying."""
    if file is None:
        return default_configuration(OperatorConfiguration())
    return read_configuration(file).configuration
