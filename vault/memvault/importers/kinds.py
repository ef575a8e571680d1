"""Which kind a claim is when its source does not say: the words that mark a preference.

Pure; knows no format. Only what is said outright counts, everything else stays a fact.
"""

from __future__ import annotations

import re

from memvault.model import Kind

_OUTRIGHT = re.compile(
    r"\b(?:prefer(?:s|red|ences?)?|(?:dis)?likes|loves|hates|enjoys|favou?rites?|would rather)\b"
    "|喜欢|偏好|偏爱|最爱|讨厌|更愿意|倾向于|宁愿",
    re.IGNORECASE,
)
_HABIT = re.compile(
    r"\b(?:always|never|usually|from now on)\b|总是|从不|从来不|一向|习惯|每次都|以后都|一律", re.IGNORECASE
)
_PERSON = re.compile(
    r"\b(?:person|people|human|user|individual|colleague|coworker|friend|family|relative|teammate|employee|contact"
    r"|customer|client|developer|engineer|designer|manager|member|student|teacher|doctor)s?\b"
    "|人物|用户|同事|朋友|家人|亲人|家属|成员|客户|医生|老师|工程师|开发者|^人$|^个人$",
    re.IGNORECASE,
)
_KINSHIP = re.compile(
    r"\b(?:married|spouse|wife|husband|partner|parent|mother|father|son|daughter|sister|brother|sibling|child"
    r"|cousin|aunt|uncle|niece|nephew|grand(?:mother|father|son|daughter|parent|child)|friend|colleague|mentors?"
    r"|reports to)\b"
    "|配偶|妻子|丈夫|父亲|母亲|爸爸|妈妈|儿子|女儿|姐姐|妹妹|哥哥|弟弟|姐妹|兄弟"
    "|朋友|同事|导师|上级|下属",
    re.IGNORECASE,
)


def is_person(entity_type: str) -> bool:
    """Whether the type of an entity names people."""
    return bool(_PERSON.search(entity_type.replace("_", " ")))


def is_kinship(relation: str) -> bool:
    """Whether a relation, as words, can only hold between people."""
    return bool(_KINSHIP.search(relation))


def kind_of(claim: str, about_a_person: bool) -> Kind:
    """Preference or fact; words of habit count only for people, because systems have habits too."""
    if _OUTRIGHT.search(claim) or (about_a_person and _HABIT.search(claim)):
        return Kind.PREFERENCE
    return Kind.FACT
