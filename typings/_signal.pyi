from collections.abc import Callable

SIGINT: int
SIGTERM: int

def signal(number: int, handler: Callable[..., object], /) -> object: ...
