# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag completion`: the lines that let a shell complete subcommands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from kafka_lag_cli.help_sections import command

_VARIABLE = "_KAFKA_LAG_COMPLETE"


@command(
    epilog="""\b
examples:
  eval "$(kafka-lag completion bash)"        # in ~/.bashrc
  eval "$(kafka-lag completion zsh)"         # in ~/.zshrc
  kafka-lag completion fish | source         # in ~/.config/fish/config.fish
"""
)
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the lines that complete kafka-lag's words in SHELL."""
    script = get_completion_class(shell)
    root = click.get_current_context().find_root()
    if script is None:
        raise click.UsageError(f"There is no completion for {shell}.")
    click.echo(script(root.command, {}, "kafka-lag", _VARIABLE).source())
