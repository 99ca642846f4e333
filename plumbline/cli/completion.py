"""`plumbline completion`: what a shell completes of the command, from the parser itself."""

import argparse
import shlex
from collections.abc import Iterable, Iterator

_EPILOG = """\
examples:
  eval "$(plumbline completion bash)"      in ~/.bashrc
  eval "$(plumbline completion zsh)"       in ~/.zshrc
"""

_FUNCTION = """\
_plumbline() {
  local current=${COMP_WORDS[COMP_CWORD]} words=
  case "$COMP_CWORD ${COMP_WORDS[1]} ${COMP_WORDS[COMP_CWORD-1]}" in
%s
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _plumbline plumbline
"""
"""Where no word fits, files are completed."""

_BEFORE = {"bash": "", "zsh": "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n"}


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to a command line."""
    arguments = commands.add_parser(
        "completion",
        help="prints what has a shell complete the command",
        description="Prints a script by which a shell completes commands, options and choices.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument("shell", choices=_BEFORE)
    arguments.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    cases = "\n".join(_cases(given.whole_parser()))
    print(_BEFORE[given.shell] + _FUNCTION % cases, end="")
    return 0


def _cases(parser: argparse.ArgumentParser) -> Iterator[str]:
    """For each place of a word, by the command and the word before, what it may be."""
    (commands,) = (
        action.choices
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    yield _case("1 *", [*commands, *_options(parser)])
    for name, command in commands.items():
        for action in command._actions:
            if action.choices and action.option_strings:
                for option in action.option_strings:
                    yield _case(f"* {name} {option}", map(str, action.choices))
            elif action.choices:
                yield _case(f"2 {name} *", map(str, action.choices))
        yield _case(f"* {name} *", _options(command))


def _options(parser: argparse.ArgumentParser) -> list[str]:
    return [option for action in parser._actions for option in action.option_strings]


def _case(pattern: str, words: Iterable[str]) -> str:
    quoted = "*".join(f'"{part}"' if part else "" for part in pattern.split("*"))
    return f"    {quoted}) words={shlex.quote(' '.join(words))} ;;"
