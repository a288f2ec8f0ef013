"""Statistics of the words of a store's spaces: how many chunks there are and hold a word, which words there are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from jupyter_memory.storage.cache import Cache
from jupyter_memory.storage.postgres.connection.session import Session, of
from jupyter_memory.storage.postgres.indexes.words import keyed, stems
from jupyter_memory.text.identifiers import COLUMNS

# Words that are cached, some 100 bytes each, and phrases and groups of matches.
_MOST, _FEWER = 100_000, 10_000
# A word of so many letters may be a compound.
_LONG = 9
# Matches that share their rarity, each with its stems, whether it is only begun and a pair; and a set of columns.
Group = tuple[tuple[tuple[tuple[str, ...], bool, bool], ...], int]


class StatisticsCache:
    """What earlier searches read of the words of one state of the keyword index."""

    def __init__(self) -> None:
        # The chunks that hold a word, by the columns that do; those that hold any of a group of matches; whether any
        # holds words side by side.
        self.holding: Cache[str, Mapping[int, int]] = Cache(_MOST)
        self.groups: Cache[Group, int] = Cache(_FEWER)
        self.phrases: Cache[tuple[tuple[str, ...], int], bool] = Cache(_FEWER)
        self.vocabulary: Cache[str, Sequence[str]] = Cache(_MOST, lambda words: len(words) + 1)


class Statistics:
    """The words of one state of the keyword index, as a search sees it; ``cache`` has those of earlier searches."""

    def __init__(self, session: Session, version: str, cache: StatisticsCache) -> None:
        self._session = session
        self._totals = session.totals
        self._version = version
        self._cache = cache

    def counted(self, groups: Iterable[Group]) -> list[int] | None:
        """Return how many chunks hold any match of each group, None where not all were counted."""
        found = [self._cache.groups.get(self._version, group) for group in groups]
        known = [count for count in found if count is not None]
        return known if len(known) == len(found) else None

    def keep_counted(self, counts: Mapping[Group, int]) -> None:
        """Note how many chunks hold any match of a group."""
        for group, count in counts.items():
            self._cache.groups.put(self._version, group, count)

    def side_by_side(self, stems: tuple[str, ...], bits: int, look: Callable[[], bool]) -> bool:
        """Return whether any chunk holds words side by side in a set of columns; ``look`` finds out the first time."""
        return self._cache.phrases.of(self._version, (stems, bits), look)

    @property
    def chunks(self) -> int:
        """Return how many chunks there are."""
        return self._totals.chunks

    def words(self, text: str, /) -> list[str]:
        """Return the words of a text as the index holds them, in their order."""
        return stems(text)

    @property
    def average_size(self) -> float:
        """Return how many words a chunk has on average."""
        return self._totals.words / self._totals.chunks if self._totals.words else 1.0

    def frequencies(self, words: Iterable[str], /) -> Mapping[str, int]:
        """Return how many chunks hold each word, in whichever column; 0 where none does."""
        asked = list(dict.fromkeys(words))
        found = self.by_columns([keyed(word) for word in asked])
        return {word: sum(found[keyed(word)].values()) for word in asked}

    def by_columns(self, terms: Sequence[str]) -> Mapping[str, Mapping[int, int]]:
        """Return how many chunks hold each word, as the tables have it, in which set of columns."""
        cached = {term: self._cache.holding.get(self._version, term) for term in terms}
        known = {term: columns for term, columns in cached.items() if columns is not None}
        unknown = [term for term in cached if term not in known]
        if unknown:
            counted: dict[str, dict[int, int]] = {term: {} for term in unknown}
            for term, columns, chunks in self._session.rows(
                "select term, columns, sum(chunks)::bigint from frequencies "
                f"where {of('frequencies')} and term = any(%(terms)s) group by term, columns",
                {"terms": unknown},
            ):
                counted[term][columns] = chunks
            for term, of_term in counted.items():
                self._cache.holding.put(self._version, term, of_term)
            known |= counted
        return known

    def first_with(self, beginning: str, among: Collection[str]) -> Collection[str]:
        """Return those of some words that any chunk holds, and the first word with a beginning, if there is one."""
        rows = self._session.rows(
            f"""
            (
                select term from frequencies
                where {of("frequencies")} and term >= %(first)s and term < %(until)s
                group by term having sum(chunks) > 0 order by term limit 1
            )
            union all
            (
                select term from frequencies where {of("frequencies")} and term = any(%(among)s)
                group by term having sum(chunks) > 0
            )
            """,
            {"first": beginning, "until": f"{beginning}\U0010ffff", "among": list(among)},
        )
        return [row[0] for row in rows]

    def beginning(self, letters: str, /) -> Sequence[str]:
        """Return the words of the index, as stems, that begin with these letters."""
        after = letters[:-1] + chr(ord(letters[-1]) + 1)
        return self._cache.vocabulary.of(
            self._version,
            letters,
            self._reader("term >= %(letters)s and term < %(after)s", letters=letters, after=after),
        )

    def ending(self, letters: tuple[str, ...], /) -> Sequence[str]:
        """Return the long words of the index, as stems, that end with any of these letters."""
        found = self._cache.vocabulary.of(self._version, "", self._reader("length(term) >= %(long)s", long=_LONG))
        return [term for term in found if term.isalpha() and term.endswith(letters)]

    def is_held(self, word: str, columns: Collection[str]) -> bool:
        """Return whether any chunk holds a word, by its stem, in one of these columns."""
        bits = bits_of(columns)
        found = self.by_columns([keyed(stem) for stem in stems(word)])
        return all(any(held & bits and count for held, count in one.items()) for one in found.values())

    def chunk_count(self, stem: str, columns: Collection[str]) -> int:
        """Return how many chunks hold a stem in the one of these columns where most do; it may be gone by now."""
        found = self.by_columns([keyed(stem)])[keyed(stem)]
        return max((sum(n for held, n in found.items() if held & bits_of([one])) for one in columns), default=0)

    def _reader(self, where: str, **parameters: object) -> Callable[[], Sequence[str]]:
        def read() -> list[str]:
            rows = self._session.rows(
                f"select term from frequencies where {of('frequencies')} and {where} "
                "group by term having sum(chunks) > 0 order by term",
                parameters,
            )
            return [row[0] for row in rows]

        return read


def bits_of(columns: Collection[str]) -> int:
    """Return a set of columns as the table has it."""
    return sum(1 << place for place, column in enumerate(COLUMNS) if column in columns)
