from __future__ import annotations

from itertools import pairwise

import pytest

from memvault_models import Language, ModelInputInvalid, language
from memvault_models.text import normalise, normalise_all
from memvault_models.windows import cut, window_starts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We deploy on Mondays.", "en"),
        ("Wir liefern montags aus, außer an Feiertagen.", "en"),
        ("部署前先跑测试。", "zh"),
        ("用 kubectl apply 部署 PaymentGateway 到 staging 环境", "zh"),
        ("The button says 部署 in the Chinese build", "en"),
        ("デプロイは月曜日に行う。", "ja"),
        ("本番環境へ配備する", "ja"),
        ("배포는 월요일에 한다.", "ko"),
        ("Kubernetes 클러스터 설정", "ko"),
        ("Развёртываем по понедельникам.", "ru"),
        ("Используй kubectl для развёртывания", "ru"),
        ("نشر التحديث يوم الاثنين", "other"),
        ("2024-03-12 17:40", "other"),
        ("", "other"),
        ("😀", "other"),
    ],
)
def test_language_by_script(text: str, expected: Language) -> None:
    assert language(text) == expected


def test_normalising_is_nfkc_without_the_invisible() -> None:
    assert normalise("ｆｕｌｌ　ｗｉｄｔｈ") == "full width"
    assert normalise("a\u200bb\x00c\ud800d \n\t e") == "abcd e"
    assert normalise("café") == normalise("cafe\u0301")


@pytest.mark.parametrize("empty", ["", "   ", "\n\t", "\u200b\ufeff", "\x00"])
def test_nothing_to_embed_is_an_error(empty: str) -> None:
    with pytest.raises(ModelInputInvalid):
        normalise(empty)
    with pytest.raises(ModelInputInvalid, match="text 1 of 2"):
        normalise_all(["secret words", empty])


@pytest.mark.parametrize("length", [0, 1, 99, 100, 101, 188, 189, 1000])
def test_windows_cover_everything_and_overlap(length: int) -> None:
    starts = window_starts(length, 100)
    covered = [range(start, min(start + 100, length)) for start in starts]
    assert {token for span in covered for token in span} == set(range(length))
    for earlier, later in pairwise(covered):
        assert later.start <= earlier.stop - 12
    assert all(len(span) == min(100, length) for span in covered)


def test_every_window_has_marks_and_fits() -> None:
    windows = cut(range(100, 400), [0, 7], [2], 50)
    assert all(window[:2] == [0, 7] and window[-1] == 2 and len(window) <= 50 for window in windows)
    with pytest.raises(ValueError, match="room"):
        cut([1], [0] * 10, [2], 11)
