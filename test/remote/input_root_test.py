import sys
from pathlib import Path, PurePosixPath

import pytest

from test.remote import sandbox
from test.remote.input_root import File, Folder, InputRoots, Mount


class FakeStore:
    """Folders by name, files whose hash is their content."""

    def __init__(self, folders: dict[str, Folder]) -> None:
        self.folders = folders
        self.fetched: list[str] = []

    def folder(self, digest: str) -> Folder:
        return self.folders[digest]

    def fetch(self, wanted: dict[Path, File]) -> None:
        for path, file in wanted.items():
            self.fetched.append(file.key)
            path.write_text(file.hash)


_TREE = {
    "root": Folder(
        files={"run": File("program", 7, executable=True), "data": File("program", 7)},
        folders={"in": "in", "many": "many"},
        links={"link": "in/file"},
    ),
    "in": Folder(files={"file": File("text", 4)}),
    "many": Folder(
        files={f"f{number}": File(str(number), 1) for number in range(100)},
        folders={"below": "in"},
    ),
}


@pytest.fixture
def store() -> FakeStore:
    return FakeStore(_TREE)


def test_a_tree_becomes_files(tmp_path: Path, store: FakeStore) -> None:
    root = tmp_path / "root"
    InputRoots(tmp_path / "cache", store).make("root", root, [])
    assert (root / "run").read_text() == (root / "data").read_text() == "program"
    assert (root / "run").stat().st_mode & 0o777 == 0o555
    assert (root / "data").stat().st_mode & 0o777 == 0o444
    assert (root / "link").read_text() == "text"


def test_a_large_folder_is_mounted(tmp_path: Path, store: FakeStore) -> None:
    root = tmp_path / "root"
    [mount] = InputRoots(tmp_path / "cache", store).make("root", root, [])
    assert mount.target == PurePosixPath("many")
    assert (mount.source / "f99").read_text() == "99"
    assert (mount.source / "below/file").read_text() == "text"
    assert list((root / "many").iterdir()) == []


def test_a_large_folder_with_outputs_is_made(tmp_path: Path, store: FakeStore) -> None:
    root = tmp_path / "root"
    outputs = [PurePosixPath("many/below/deep/output")]
    assert InputRoots(tmp_path / "cache", store).make("root", root, outputs) == []
    assert (root / "many/f99").read_text() == "99"
    assert (root / "many/below/deep").is_dir()


def test_nothing_is_fetched_twice(tmp_path: Path, store: FakeStore) -> None:
    roots = InputRoots(tmp_path / "cache", store)
    roots.make("root", tmp_path / "first", [])
    fetched = len(store.fetched)
    roots.make("root", tmp_path / "second", [])
    assert len(store.fetched) == fetched == len(set(store.fetched)) == 103


def test_the_sandbox_shows_inputs_and_tools_only() -> None:
    line = sandbox.command_line(
        ["gcc", "-c"],
        {"PATH": "/usr/bin"},
        Path("/w/root"),
        [Mount(Path("/w/cache/many"), PurePosixPath("many"))],
        "sub",
    )
    text = " ".join(line)
    assert "--ro-bind /w/cache/many /execution_root/many" in text
    assert text.endswith("--chdir /execution_root/sub --setenv PATH /usr/bin -- gcc -c")
    assert "/home" not in text


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
