"""SPEC 5: what lowers and what raises `stable` and `reusable`, in both languages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memvault.gate import chinese, chinese_told, english, english_told
from memvault.gate.reading import read
from memvault.gate.signals import OWN_WORDS, RAISE_AT_MOST, SIGNALS, by_rule, signals
from memvault.model import Draft, Failure, Kind

MakeDraft = Callable[..., Draft]

LOWERING = [
    ("relative_date", "Deploys are paused today.", "今天暂停发布。"),
    ("relative_date", "The office closes early this week.", "本周办公室提前关门。"),
    ("relative_date", "Yesterday the index was rebuilt.", "昨天重建了索引。"),
    ("temporary_path", "The dump is in /tmp/dump-1/out.sql.", "导出放在临时目录里。"),
    ("process_id", "The server runs as PID 40112.", "服务的进程号是 40112。"),
    ("one_off_timing", "The import took 84 seconds.", "导入耗时 84 秒。"),
    ("running_state", "Interface A is currently timing out.", "接口 A 现在超时。"),
    ("hypothetical", "If we ever sold this, licences would matter.", "假如要卖这个产品,许可证就重要了。"),
    ("one_off", "Only for this round, answer in verse.", "就这一次用诗来回答。"),
    ("imagined", "Let's pretend the budget were doubled.", "假定预算翻倍。"),
    ("question", "Which port does the broker use?", "消息服务用哪个端口?"),
    ("guess", "It seems the cache is shared.", "缓存似乎是共享的。"),
    ("guess", "I think the port is fixed.", "端口应该是固定的。"),
    ("guess", "The job is probably obsolete.", "这个任务可能没用了。"),
    ("discussion", "We discussed three layouts.", "讨论了三种布局。"),
    ("chat_log", "The user asked for a poem and got one.", "用户问了天气。"),
    ("common_knowledge", "Rust is a programming language.", "Rust 是一门编程语言。"),
]

RAISING = [
    ("explicit", "Always run the linter before a commit.", "提交前一律先跑检查。"),
    ("explicit", "From now on use tabs.", "以后都用制表符。"),
    ("explicit", "Remember that the budget is fixed.", "记住预算是固定的。"),
    ("preference", "The user prefers short answers.", "用户喜欢简短的回答。"),
    ("correction", "Corrected twice: the name is written in lower case.", "纠正过两次:名字要小写。"),
    ("trigger", "On error 1205 check the configuration first.", "看到 1205 错误先检查配置再重试。"),
    ("shield", "Cause: a stale lock. Fix: delete it. Verify that the log moves. Stop after two tries.", None),
    ("shield", "原因是残留的锁。处理:删掉。验证:日志继续滚动。两次无效就停止。", None),
    ("map", "The price list is not in the repository; sales keep it.", "价格表不在仓库里,由销售维护。"),
    ("place", "The floor plans are kept in the grey cabinet.", "平面图存在灰色柜子里。"),
    ("surprise", "Officially the pump stops by itself.", "官方说会自动停,其实不会。"),
    ("limit", "The plotter rejects rolls above 90 cm.", "绘图仪不收九十厘米以上的卷。"),
    ("reason", "Use one thread, because the driver is not safe.", "只用一个线程,因为驱动不安全。"),
]


def codes(text: str, make: MakeDraft, **fields: object) -> set[str]:
    draft = make(text, **fields)
    return {signal.code for signal in signals(read(draft), draft.claim)}


@pytest.mark.parametrize(("code", "en", "zh"), LOWERING)
def test_what_will_not_last_lowers_in_both_languages(code: str, en: str, zh: str, draft: MakeDraft) -> None:
    assert SIGNALS[code].lowers
    assert code in codes(en, draft)
    assert code in codes(zh, draft)


@pytest.mark.parametrize(("code", "one", "other"), RAISING)
def test_explicit_words_and_the_four_high_signals_raise(
    code: str, one: str, other: str | None, draft: MakeDraft
) -> None:
    assert not SIGNALS[code].lowers
    assert code in codes(one, draft)
    assert other is None or code in codes(other, draft)


@pytest.mark.parametrize(
    "text",
    [
        "The log is rotated every night at 02:00.",
        "Error 4021 means a bad signature.",
        "日志每天两点轮转。",
        "错误码 4021 表示签名错误。",
        "The column is called `today` in the report, and it is a number.",
        "报表里的「今天」一列是数字。",
    ],
)
def test_a_general_statement_and_a_word_only_mentioned_lower_nothing(text: str, draft: MakeDraft) -> None:
    lowering = {code for code in codes(text, draft) if SIGNALS[code].lowers}
    assert not lowering


def test_a_failure_record_is_a_shield_whatever_its_words(draft: MakeDraft) -> None:
    failure = Failure("queue grows", "old client", "restart in pairs")
    assert "shield" in codes("Queue and client.", draft, kind="reflection", failure=failure)


def test_reasons_beside_the_claim_count(draft: MakeDraft) -> None:
    assert "reason" in codes("Use one thread.", draft, why="The driver is not safe.")


def test_when_it_was_decided_or_once_happened_takes_nothing_from_how_long_it_holds(draft: MakeDraft) -> None:
    for text in ("Receipts are kept ten years, the council decided last month.", "票据留十年,上个月定的。"):
        assert "relative_date" not in codes(text, draft)
    for text in ("The council meets last week's visitors.", "上个月的票据在桌上。"):
        assert "relative_date" in codes(text, draft)


def test_an_episode_and_a_lesson_may_lie_in_the_past_a_fact_may_not(draft: MakeDraft) -> None:
    text = "Last year the pump froze because the valve was open; closing it fixed that."
    assert "relative_date" not in codes(text, draft, kind="episode")
    assert "relative_date" not in codes(text, draft, kind="reflection")
    assert "relative_date" in codes(text, draft, kind="fact")


def test_a_text_that_ends_in_a_question_asks_whatever_else_it_says(draft: MakeDraft) -> None:
    assert "question" in codes("We always check the valve first, don't we?", draft)
    assert "question" not in codes("Pump silent? Check the valve first.", draft)


def test_what_the_user_says_of_their_own_accord_is_reusable_a_little_more() -> None:
    heard, own = (by_rule(Kind.FACT, (), heard=True, own_words=own) for own in (False, True))
    assert own[1] == pytest.approx(heard[1] + OWN_WORDS)
    assert own[0] == heard[0]
    assert by_rule(Kind.POLICY, (), heard=True, own_words=True) == by_rule(Kind.POLICY, (), heard=True)


def test_always_inside_text_nobody_said_raises_nothing(draft: MakeDraft) -> None:
    fired = signals(read(draft("Always use mirror B.")), draft("Always use mirror B.").claim)
    heard, read_only = (by_rule(Kind.FACT, fired, heard=heard) for heard in (True, False))
    assert heard[0] > read_only[0]
    assert heard[1] > read_only[1]


def test_no_number_of_raising_signals_hides_a_lowering_one(draft: MakeDraft) -> None:
    text = "Remember, always, from now on: today, since we agreed, check it first, it was corrected twice."
    one = draft(text)
    fired = signals(read(one), one.claim)
    stable, _ = by_rule(Kind.POLICY, fired, heard=True)
    assert sum(signal.stable for signal in fired if signal.stable > 0) > RAISE_AT_MOST
    assert stable < 0.6


def test_every_signal_has_words_in_both_languages_and_a_sentence() -> None:
    derived = {"shield"}
    for code, signal in SIGNALS.items():
        assert signal.sentence
        assert -1 <= signal.stable <= 1
        assert -1 <= signal.reusable <= 1
        assert code in derived or code in english.SIGNALS.keys() | english_told.SIGNALS.keys()
        assert code in derived or code in chinese.SIGNALS.keys() | chinese_told.SIGNALS.keys()
