"""`plumbline completion`: what a shell completes of the command, from the parser itself."""

import argparse
import shlex
from collections.abc import Iterable, Iterator

from plumbline.cli.word_list import WordList

_EPILOG = """\
examples:
  eval "$(plumbline completion bash)"      in ~/.bashrc
  eval "$(plumbline completion zsh)"       in ~/.zshrc
  plumbline completion fish | source       in ~/.config/fish/config.fish
"""

_BASH = """\
_plumbline() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words= list=
  # bash takes the = of --option=value for a word of its own.
  if [[ $current == = ]]; then
    current=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
  case "$COMP_CWORD ${COMP_WORDS[1]} $before" in
%s
  esac
  if [[ $list && $current == *,* ]]; then
    words="${words// / ${current%%,*},}"
    words="${current%%,*},$words"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _plumbline plumbline
"""
"""Where no word fits, files are completed."""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to a command line."""
    arguments = commands.add_parser(
        "completion",
        help="prints what has a shell complete the command",
        description="Prints a script by which a shell completes commands, options and choices.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument("shell", choices=_SHELLS)
    arguments.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    print(_SHELLS[given.shell](given.whole_parser()), end="")
    return 0


def _bash(parser: argparse.ArgumentParser) -> str:
    return _BASH % "\n".join(_cases(parser))


def _zsh(parser: argparse.ArgumentParser) -> str:
    return "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n" + _bash(parser)


def _cases(parser: argparse.ArgumentParser) -> Iterator[str]:
    """For each place of a word, by the command and the word before, what it may be."""
    commands = _commands(parser)
    yield _case("1 *", [*commands, *_options(parser)])
    for name, command in commands.items():
        for action in command._actions:
            if words := _choices(action):
                is_list = isinstance(action.type, WordList)
                for option in action.option_strings:
                    yield _case(f"* {name} {option}", words, is_list=is_list)
                if not action.option_strings:
                    yield _case(f"2 {name} *", words)
        yield _case(f"* {name} *", _options(command))


def _case(pattern: str, words: Iterable[str], *, is_list: bool = False) -> str:
    quoted = "*".join(f'"{part}"' if part else "" for part in pattern.split("*"))
    said = f"words={shlex.quote(' '.join(words))}{' list=1' if is_list else ''}"
    return f"    {quoted}) {said} ;;"


def _fish(parser: argparse.ArgumentParser) -> str:
    return "".join(f"complete -c plumbline {line}\n" for line in _fish_lines(parser))


def _fish_lines(parser: argparse.ArgumentParser) -> Iterator[str]:
    """What fish is told of each command and each option."""
    for action in parser._actions:
        if action.option_strings:
            yield f"-n __fish_use_subcommand {_fish_option(action)}"
    for name, command in _commands(parser).items():
        yield f"-n __fish_use_subcommand -f -a {name}"
        within = f"-n '__fish_seen_subcommand_from {name}'"
        for action in command._actions:
            if action.option_strings:
                yield f"{within} {_fish_option(action)}"
            elif words := _choices(action):
                yield f"{within} -f -a {shlex.quote(' '.join(words))}"


def _fish_option(action: argparse.Action) -> str:
    """One option: its names, whether a value follows, and which."""
    names = " ".join(
        f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
        for option in action.option_strings
    )
    words = " ".join(_choices(action))
    if isinstance(action.type, WordList):
        return f"{names} -x -a '(__fish_append , {words})'"
    if words:
        return f"{names} -x -a {shlex.quote(words)}"
    # A file, it may be.
    return names if action.nargs == 0 else f"{names} -r"


_SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands, and the parser of each."""
    (commands,) = (
        action.choices
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return dict(commands)


def _options(parser: argparse.ArgumentParser) -> list[str]:
    return [option for action in parser._actions for option in action.option_strings]


def _choices(action: argparse.Action) -> list[str]:
    """The words that a value may be, or be made of."""
    if isinstance(action.type, WordList):
        return [*action.type.known]
    return [*map(str, action.choices or ())]
