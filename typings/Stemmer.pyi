# Types of PyStemmer, which ships none.

from collections.abc import Iterable

class Stemmer:
    maxCacheSize: int  # noqa: N815
    def __init__(self, algorithm: str, maxCacheSize: int = 10000) -> None: ...  # noqa: N803
    def stemWord(self, word: str) -> str: ...  # noqa: N802
    def stemWords(self, words: Iterable[str]) -> list[str]: ...  # noqa: N802

def algorithms() -> list[str]: ...
def version() -> str: ...
