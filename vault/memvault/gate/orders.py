"""Orders to remember inside text nobody said: tool output, pages, files (SPEC 5). Pure.

Owns their wording only. What a user says directly is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memvault.model import Source, SourceType

_MODEL = (
    r"(?:assistants?|ai(?: (?:agents?|models?|assistants?|systems?))?|llms?|language models?|chat ?bots?|"
    r"agents?|"
    r"bots?|robots?|crawlers?|claude|gpt|chatgpt|copilot|codex|gemini)"
)
_STORE = (
    r"(?:remember|memori[sz]e|store|save|record|persist|note down|write (?:down|to)|add|commit|keep|log|"
    r"update)"
)
_MEMORY = (
    r"(?:(?:your|its|the (?:assistant|agent|model)'s|agent|assistant|persistent|to) memor(?:y|ies)|"
    r"user preferences?|(?:permanent|standing|saved) (?:\w+ )?(?:preference|instruction|rule)s?|long.term)"
)

_ALWAYS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,30}\b(?:previous|prior|earlier|above|all|"
    r"your|existing)"
    r"\b[^.\n]{0,20}\b(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|constraints?|memor(?:y|"
    r"ies))\b|"
    r"\b(?:do not|don't|never|without) (?:tell|telling|inform|informing|mention|mentioning|alert|alerting|"
    r"notify|"
    r"notifying)(?: \w+){0,3} (?:the )?(?:user|human|operator|owner|anyone)\b|"
    rf"\b(?:note|message|instructions?|attention|reminder|memo) (?:to|for) (?:\w+ )?{_MODEL}\b|"
    rf"<!--[^>]{{0,20}}\b{_MODEL}\b|\[(?:system|inst|assistant)[\w ]*\]|<\|?(?:system|im_start|assistant)\b|"
    rf"\b{_MODEL}\b[^.\n]{{0,40}}\b(?:must|should|shall|has to|have to|need to|are to|"
    rf"please)\b[^.\n]{{0,30}}\b{_STORE}\b|"
    rf"\b{_MODEL}\b ?(?:reading|processing|that reads?|parsing|:|,)[^\n]{{0,80}}\b{_STORE}\b|"
    r"(?:忽略|无视|忘掉|忘记|绕过|覆盖)[^.\n]{0,8}(?:之前|先前|以前|上面|原有|所有|已有|你的|"
    r"系统)[^.\n]{0,8}(?:规则|指令|提示|约束|设定|限制|记忆)|"
    r"(?:不要|别|切勿|无需|不必)(?:告诉|告知|提醒|通知|让)[^,.\n]{0,4}(?:用户|主人|任何人)|"
    r"(?:机器人|助手|智能体|ai)(?:须知|注意|请注意)|(?:致|给)[^,.\n]{0,8}(?:ai|智能体|助手|大模型|模型|机器人)|【系统|<!--[^>]{0,12}(?:ai|助手|"
    r"智能体|"
    r"模型)|"
    r"(?:ai|智能体|助手|大模型)[^.\n]{0,8}(?:必须|应当|务必|请|需要|应)[^.\n]{0,40}(?:记住|写入|保存|存入|"
    r"记录|记忆)|"
    r"请[^,.\n]{0,4}(?:助手|智能体|ai)[^.\n]{0,10}(?:记住|写入|保存|存入|记录|记忆)",
    re.IGNORECASE,
)
"""Speaks to a model, or against its rules: nobody's memory, wherever it comes from."""

_WHEN_READ = re.compile(
    rf"\b{_STORE}\b[^.\n]{{0,60}}\b{_MEMORY}\b|\b(?:remember|memori[sz]e|keep in mind|bear in mind)\b|"
    r"\b(?:from now on|in all future (?:sessions|chats|conversations))\b|"
    r"\bthe user (?:has |already |always )*(?:approved|agreed|consented|authori[sz]ed|wants|prefers|"
    r"allows)\b|"
    r"\bfor all future\b|\b(?:as|is) a (?:user|permanent|standing) preference\b|"
    r"记住|牢记|(?:写入|存入|保存到|加入|更新)[^,.\n]{0,6}(?:记忆|偏好)|(?:记录|保存|"
    r"存)[^,.\n]{0,30}(?:为|成|一条)[^,.\n]{0,4}(?:偏好|规则|记忆)|"
    rf"\b{_MODEL}\b[^.\n]{{0,60}}\b(?:should|must|shall|is to|are to|may|asked|told|instructed|memori[sz]e|"
    r"remember|approves?|trusts?|skips?)\b|\b(?:instruct|tell|ask|request|urge|order)(?:s|ed|"
    r"ing)? (?:\w+ ){0,3}"
    rf"{_MODEL}\b|\bthe user's (?:new |standing |permanent |explicit |latest )*(?:wish|preference|consent|"
    rf"approval|"
    r"permission|instruction|decision|order)s?\b|\b(?:earlier|previous|prior|existing|all) (?:preferences?|"
    r"rules?|"
    r"memories|instructions?) (?:are|is|become) (?:void|obsolete|replaced|revoked|invalid|no longer)\b|"
    r"\b(?:payments?|transfers?|commands?|sudo|pushes|deletions?|merges?|installs?|"
    r"requests?)\b[^.\n]{0,40}\b(?:no|"
    r"without) (?:further |any )?(?:confirmation|asking|verification|approval|questions?)\b|"
    r"(?:要求|请|让|指示|命令|提示|告诉|建议)[^,.\n]{0,6}(?:模型|助手|ai|智能体|机器人)|(?:助手|ai|智能体|机器人|大模型)"
    r"[^,.\n]{0,14}(?:记录|记住|记下|存为|存入|写入|更新|批准|允许|授权|不用|不必|跳过|信任)|(?:付款|转账|执行|推送|删除|合并|命令|安装)"
    r"[^.\n]{0,12}(?:不必|无需|不用)(?:再)?(?:核实|确认|询问|验证|测试)|用户的?(?:最新|长期|明确|永久)(?:偏好|意愿|授权|要求|"
    r"指令)|(?:此前|之前|以往|原有)的?(?:偏好|规则|设定|指令)[^,.\n]{0,4}(?:作废|失效)|"
    r"(?:永久|长期)(?:保存|记录|记忆)|从现在起|今后的所有|所有(?:会话|对话)中|用户(?:已|已经)?(?:同意|"
    r"授权|批准|允许)",
    re.IGNORECASE,
)
"""Asks to be remembered, or speaks for the user: refused when it was read somewhere, not said."""

READ_SOMEWHERE = frozenset({SourceType.TOOL, SourceType.FILE})
"""Source types whose text nobody said to the agent."""


def orders_to_remember(text: str, sources: Iterable[Source]) -> bool:
    """Whether `text` (normalised: claim and evidence) carries an instruction that is not the user's."""
    types = {source.type for source in sources}
    if types and types <= {SourceType.USER}:
        return False
    return bool(_ALWAYS.search(text)) or (bool(types & READ_SOMEWHERE) and bool(_WHEN_READ.search(text)))
