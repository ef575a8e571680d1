"""Which kinds of work a prompt is about, so that what was agreed on them arrives without being asked. Pure.

A rule for commits is needed by whoever says "commit this", and its words may be none of the prompt's. So the
prompt gets topics, the title of a memory (subject and attribute) too, and where they meet it is shown.
Owns the words of the topics, in English and Chinese. A prompt without a topic is normal.
"""

from __future__ import annotations

import re

from memvault.text import fold

_WORDS: dict[str, tuple[str, str]] = {
    "commit": (
        r"commits?|committed|committing|commit messages?|changelogs?",
        "提交信息|提交说明|提交代码|提交",
    ),
    "branch": (
        r"branch(?:es)?|merge|merging|rebase|rebasing|pull requests?|pr|prs",
        "分支|合并请求|合并|变基",
    ),
    "review": (r"code reviews?|reviews?|reviewing|reviewers?", "代码评审|代码审查|评审"),
    "release": (
        r"release|releases|releasing|deploy|deploys|deploying|deployments?|roll ?outs?|ship it|publish",
        "发布|上线|部署|发版",
    ),
    "test": (
        r"tests?|testing|unit tests?|test suite|pytest|jest|coverage|fixtures?",
        "单元测试|测试|用例|覆盖率",
    ),
    "migration": (r"migrations?|migrate|schema|schemas|ddl", "数据库迁移|迁移|表结构"),
    "dependency": (
        r"dependency|dependencies|packages?|upgrade|upgrading|lock ?file|npm|pnpm|pip|cargo",
        "依赖|升级|锁文件|包管理",
    ),
    "logging": (r"logs?|logging|log lines?|logger", "日志"),
    "errors": (
        r"error handling|exceptions?|error messages?|retry|retries",
        "错误处理|异常处理|异常|报错信息|重试",
    ),
    "formatting": (
        r"format|formatting|formatter|lint|linter|linting|indentation|indent",
        "格式化|代码格式|缩进",
    ),
    "naming": (r"naming|rename|renaming", "命名|改名|重命名"),
    "docs": (r"docs|documentation|readme|docstrings?|write[- ]?up|release notes", "文档|说明书|注释"),
    "prose": (
        r"e-?mails?|blog posts?|articles?|essays?|announcements?|spelling|british english|american english",
        "邮件|文章|博客|公告|文案|拼写|措辞",
    ),
    "translation": (
        r"translat(?:e|es|ed|ing|ions?)|locali[sz]ation|i18n|locales?",
        "翻译|本地化|国际化|译文",
    ),
    "secrets": (r"secrets?|credentials?|api keys?|\.env", "密钥|凭据|凭证|口令"),
    "security": (r"security|auth|authentication|authori[sz]ation|permissions?", "安全|认证|鉴权|授权|权限"),
    "backup": (r"back ?ups?|restore|restoring", "备份|恢复数据"),
}
_TOPICS = {
    name: re.compile(rf"(?<![\w-])(?:{latin})(?![\w-])|{cjk}") for name, (latin, cjk) in _WORDS.items()
}


def topics(text: str) -> frozenset[str]:
    """The topics of a text; of a title likewise."""
    folded = fold(text)
    return frozenset(name for name, pattern in _TOPICS.items() if pattern.search(folded))
