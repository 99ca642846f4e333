import sys

import pytest

from plumbline.errors import UserError
from plumbline.function_name import check_function_name


@pytest.mark.parametrize("name", ["func_main", "f", "_f", "F2", "Main", "mainly", "xor_", "_9"])
def test_identifiers_pass(name: str) -> None:
    check_function_name(name)


@pytest.mark.parametrize("name", ["", "2f", "a-b", "a b", "a.b", "f\n", "größe", "f();"])
def test_others_are_refused(name: str) -> None:
    with pytest.raises(UserError, match="is not a C identifier"):
        check_function_name(name)


@pytest.mark.parametrize("name", ["main", "int", "xor", "std", "while"])
def test_names_that_are_taken_are_refused(name: str) -> None:
    with pytest.raises(UserError, match=f"'{name}' is taken in C"):
        check_function_name(name)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
