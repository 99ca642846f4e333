import warnings
from pathlib import Path

import pytest

from plumbline.cache.place import VARIABLE, cache_folder
from plumbline.errors import UserError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def _path(place: object) -> Path | None:
    folder = cache_folder("compile", place)  # type: ignore[arg-type]
    return None if folder is None else folder.path


def test_the_environment_says_where(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _path(True) == home / ".cache/plumbline"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert _path(True) == home / ".cache/plumbline"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg"))
    assert _path(True) == home / "xdg/plumbline"
    monkeypatch.setenv(VARIABLE, str(home / "named"))
    assert _path(True) == home / "named"
    monkeypatch.setenv(VARIABLE, "")
    assert _path(True) is None


def test_an_argument_comes_before_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    assert _path(home / "given") == _path(str(home / "given")) == home / "given"
    monkeypatch.setenv(VARIABLE, str(home / "named"))
    assert _path(False) is None
    assert not (home / "named").exists()


@pytest.mark.parametrize("place", [None, 1, "", b"/tmp"])
def test_what_is_no_place_is_refused(place: object) -> None:
    with pytest.raises(UserError, match=r"compile: cache is .*; it is True, False or a folder"):
        _path(place)


def test_a_folder_that_is_none_is_refused(home: Path) -> None:
    file = home / "file"
    file.touch()
    with pytest.raises(UserError, match=r"^compile: cache: .*file cannot be used: "):
        _path(file)
    with pytest.raises(UserError, match=r"^compile: cache: .*file/below cannot be used: "):
        _path(file / "below")


def test_one_that_the_environment_names_is_warned_of(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = home / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv(VARIABLE, str(shared))
    with pytest.warns(UserWarning, match="shared can be written by other users; .*compiled anew"):
        assert _path(True) is None
    (home / "file").touch()
    monkeypatch.setenv(VARIABLE, str(home / "file"))
    with pytest.warns(UserWarning, match="file cannot be used: "):
        assert _path(True) is None


def test_who_has_no_home_has_no_cache(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").touch()
    monkeypatch.setenv("HOME", str(home / "file"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _path(True) is None


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
