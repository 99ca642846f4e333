import json
import sys
from pathlib import Path

import pytest

from plumbline.errors import UserError
from tools.aot.loader_files import LoaderFiles


def test_files_lie_as_runfiles_and_are_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in ("models/a.py", "bazel-out/bin/models/table.npz", "external/lib/folder/x"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(file)
    listed = tmp_path / "files.json"
    files = {
        "main/models/a.py": "models/a.py",
        "main/models/table.npz": "bazel-out/bin/models/table.npz",
        "lib/folder": "external/lib/folder",
    }
    listed.write_text(json.dumps({"imports": ["main", "lib"], "files": files}))
    with LoaderFiles.read(listed).laid_out() as (main, lib):
        assert Path(main, "models/a.py").read_text() == "models/a.py"
        # What one is generated lies beside the other, as a loader expects of its own folder.
        assert Path(main, "models/table.npz").read_text() == "bazel-out/bin/models/table.npz"
        assert Path(lib, "folder/x").read_text() == "external/lib/folder/x"
    assert not Path(main).exists()
    assert (tmp_path / "external/lib/folder/x").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file or directory"),
        ("nonsense", "not a list of a loader's files"),
        ("{}", "not a list of a loader's files"),
        ("[1]", "not a list of a loader's files"),
    ],
)
def test_what_is_no_list_is_refused(content: str | None, message: str, tmp_path: Path) -> None:
    file = tmp_path / "files.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(UserError) as refusal:
        LoaderFiles.read(file)
    assert str(refusal.value) == f"{file}: {message}"


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
