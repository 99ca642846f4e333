"""What becomes part of a command, and must not be taken for more than one word there."""

_LETTERS_AND_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

def plain_text_problem(text, also = "_-.+"):
    """Finds what in `text` a shell, a make variable or a string of C could take for something else.

    Args:
      text: what becomes part of a command.
      also: what it may have beside letters and digits.

    Returns:
      What to say of it, as the rest of a sentence, or None if all is well.
    """
    for character in text.elems():
        if character not in _LETTERS_AND_DIGITS + also:
            return "has the character '{}'; it becomes part of commands: use letters, digits and {} only".format(character, also)
    return None
