"""The settings and where each came from."""

import json
import warnings
from pathlib import Path

import pytest
from traitlets import TraitError
from traitlets.config import Config

from jupyter_memory import JupyterMemory, load_config, settings, store_path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "user"))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path / "site"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("JUPYTER_MEMORY_PATH", raising=False)
    for name in ("user", "site"):
        (tmp_path / name).mkdir()
    return tmp_path


def write(folder: Path, text: str | dict[str, object], ending: str = "py") -> Path:
    file = folder / f"jupyter_memory_config.{ending}"
    file.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return file


def test_without_files_everything_is_default(home: Path) -> None:
    """With no config file every value is the default, and says so, and no warning comes."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config = load_config()

    assert {row.origin for row in settings(config)} == {"default"}
    assert (config.profile, config.limit, config.threshold, config.redact) == ("auto", 10, None, True)
    assert store_path(config) == home / "data" / "memory" / "memory.sqlite"


def test_files_and_where_values_came_from(home: Path) -> None:
    """A Python and a JSON file are both read, and each value names its file, also one that equals the default."""
    py = write(home / "user", "c.JupyterMemory.limit = 25\nc.JupyterMemory.ignore = ['λ']")
    js = write(home / "user", {"JupyterMemory": {"profile": "vault", "limit": 10}}, "json")
    rows = {row.name: (row.value, row.origin) for row in settings(load_config())}

    assert rows["ignore"] == (["λ"], str(py))
    assert rows["profile"] == ("vault", str(js))
    # As everywhere in Jupyter, the JSON file of a folder wins over its Python file.
    assert rows["limit"] == (10, str(js))
    assert rows["redact"] == (True, "default")


def test_the_first_folder_of_the_path_wins(home: Path) -> None:
    """A folder earlier in Jupyter's config path wins; what only the later one sets is kept."""
    write(home / "site", "c.JupyterMemory.limit = 25\nc.JupyterMemory.ignore.append('*.csv')")
    write(home / "user", "c.JupyterMemory.limit = 7\nc.JupyterMemory.ignore.append('*.log')")
    config = load_config()

    # JUPYTER_CONFIG_PATH comes before the user's folder.
    assert config.limit == 25
    assert sorted(config.ignore) == ["*.csv", "*.log"]


def test_a_folder_that_may_not_be_entered_is_told(common_folder: Path, as_user, monkeypatch) -> None:
    """Settings in a folder that is closed to the reader are one line with its name, and the defaults go on."""
    closed = common_folder / "closed"
    closed.mkdir(mode=0o700)
    write(closed, '{"JupyterMemory": {"limit": 3}}', "json")
    closed.chmod(0o000)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(closed))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(closed))

    def read() -> tuple[int, list[str]]:
        problems: list[str] = []
        return load_config(on_problem=problems.append).limit, problems

    limit, problems = as_user(read)
    assert limit == 10
    assert problems
    assert all("Permission denied" in problem and str(closed) in problem for problem in problems)


@pytest.mark.parametrize(
    ("content", "ending", "says"),
    [
        ("c.JupyterMemory.limit = = 3", "py", "SyntaxError"),
        ("raise RuntimeError('Müller was here')", "py", "Müller was here"),
        ("{not json", "json", "JSONDecodeError"),
        ('["a list"]', "json", "cannot be read"),
        ('{"JupyterMemory": 3}', "json", "must map names to values"),
        ('{"JupyterMemory": {"limit": "ten"}}', "json", "limit must be an int, not 'ten'. The value stays 10"),
        ('{"JupyterMemory": {"limit": 0}}', "json", "but a value of 0 was specified. The value stays 10"),
        ('{"JupyterMemory": {"path": 3}}', "json", "path must be a string, not 3."),
        ('{"JupyterMemory": {"limti": 3}}', "json", "did you mean limit?"),
    ],
)
def test_a_broken_file_is_named_and_defaults_go_on(home: Path, content: str, ending: str, says: str) -> None:
    file = write(home / "user", content, ending)
    problems: list[str] = []
    config = load_config(on_problem=problems.append)

    assert len(problems) == 1
    assert str(file) in problems[0]
    assert says in problems[0]
    assert config.limit == 10


def test_one_bad_value_does_not_lose_the_others(home: Path) -> None:
    """The good values of a file with a bad one are kept; without a listener a problem is a Python warning."""
    write(home / "user", "c.JupyterMemory.limit = -1\nc.JupyterMemory.profile = 'vault'")
    with pytest.warns(UserWarning, match=r"jupyter_memory_config\.py: .*limit"):
        config = load_config()
    assert (config.limit, config.profile) == (10, "vault")


def test_the_environment_wins_over_files_and_the_session_over_both(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JUPYTER_MEMORY_PATH beats the files; what is set in the session beats all."""
    write(home / "user", f"c.JupyterMemory.path = {str(home / 'file.sqlite')!r}")
    assert store_path(load_config()) == home / "file.sqlite"

    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(home / "env.sqlite"))
    config = load_config()
    assert store_path(config) == home / "env.sqlite"
    assert config.origin("path") == "environment: JUPYTER_MEMORY_PATH"
    assert store_path(JupyterMemory()) == home / "env.sqlite"

    config.path = str(home / "session.sqlite")
    assert store_path(config) == home / "session.sqlite"
    assert config.origin("path") == "this session"


def test_more_configuration_comes_after_files(home: Path) -> None:
    """A configuration handed in, such as IPython's own, wins over the files and keeps its name."""
    write(home / "user", "c.JupyterMemory.limit = 25")
    config = load_config(more={"IPython": Config({"JupyterMemory": {"limit": 3}})})
    assert (config.limit, config.origin("limit")) == (3, "IPython")


def test_the_path_of_a_store(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """`~` in the path is the home folder; a folder as path is refused with a name that would do."""
    monkeypatch.setenv("HOME", str(home))
    assert store_path(JupyterMemory(path="~/m.sqlite")) == home / "m.sqlite"
    with pytest.raises(TraitError, match=r"memory\.sqlite"):
        JupyterMemory(path=str(home))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", 0), ("limit", "ten"), ("threshold", 1.5), ("dimensions", 0), ("max_file_mb", -1),
        ("busy_seconds", -1), ("profile", " "), ("embedder", ""), ("ignore", 3),
    ],
)  # fmt: skip
def test_bad_values_name_the_setting(name: str, value: object) -> None:
    with pytest.raises(TraitError, match=name):
        setattr(JupyterMemory(), name, value)


def test_every_setting_has_help_and_is_configurable() -> None:
    own = set(JupyterMemory().traits()) - {"config", "parent"}
    assert own == {row.name for row in settings(JupyterMemory())}
    assert all(len(row.help) > 15 for row in settings(JupyterMemory()))


def test_a_store_in_a_folder_that_is_shut_is_no_matter_of_the_settings(common_folder, as_user):
    """Whether the path can be used is told when the store is opened; to read the settings nobody need look there."""
    (common_folder / "shut").mkdir(mode=0o000)
    path = str(common_folder / "shut" / "memory.sqlite")
    assert as_user(lambda: JupyterMemory(path=path).path) == path
