"""Which cells of a shell are in the history, by the names under which their code is compiled."""

from __future__ import annotations

from IPython.core.interactiveshell import ExecutionInfo, InteractiveShell


class Cells:
    """The code of the cells that one shell ran.

    Tracebacks hold lines of any cell that defined a function: only those of cells in the history may be remembered.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        # The number of the run by the name of its code, and the numbers of the runs that are in the history.
        self._numbers: dict[str, int] = {}
        self._kept: set[int] = set()

    def begin(self, info: ExecutionInfo, number: int) -> None:
        """Note that the code of a cell belongs to a run."""
        raw = info.raw_cell or ""
        # IPython 9.0 does not tell it.
        transformed = vars(info).get("transformed_cell") or self._transformed(raw)
        # Versions differ in whether the shell has counted the cell by now. The name holds a hash of the text as well.
        for count in (self._shell.execution_count - 1, self._shell.execution_count):
            self._numbers[self._shell.compile.get_code_name(raw, transformed, count)] = number

    def keep(self, number: int) -> None:
        """Note that a run is in the history."""
        self._kept.add(number)

    def may_show(self, file: str, running: int) -> bool:
        """Return whether the history may hold lines of a file, in the traceback of the run with this number.

        It may where the file is no cell: a traceback of Python holds lines of modules, too.
        """
        number = self._numbers.get(file)
        if number is None:
            return self._shell.compile.format_code_name(file) is None
        return number == running or number in self._kept

    def _transformed(self, raw: str) -> str:
        try:
            return str(self._shell.transform_cell(raw))  # type: ignore[no-untyped-call]
        except Exception:  # noqa: BLE001  a transformer may raise anything: IPython says it, and the cell never runs
            return raw
