"""Personal data that the gate keeps out: identifiers, contact data, health, money, inferences. Pure.

Owns what is recognised by wording. Card numbers, resident ids and credentials are the scanner's; the caller
passes those in as findings. Names and roles are not looked for: they are allowed.
"""

from __future__ import annotations

import re

_ILLNESS = (
    r"(?:diabet\w+|depress(?:ion|ed)|cancer|tumou?r|adhd|autis\w+|asthma|epilep\w+|hiv|anxiety disorder|"
    r"bipolar|burn-?out|pregnan\w+|migraines?|slipped disc|dementia|eating disorder|high blood pressure|"
    r"schizophren\w+|insulin|antidepressants?|chemo\w*|dialysis|therap(?:y|ist)|psychiatr\w+|"
    r"an? (?:stroke|heart attack|miscarriage|hernia)|surgery|allerg(?:y|ies|ic)|medication|arthritis|"
    r"(?:heart|kidney|liver) (?:condition|disease|trouble|problems?)|alcohol(?:ic|ism)|addict\w+|insomnia\w*|"
    r"trouble sleeping|rehab|dyslex\w+|dyscalcul\w+|phobia|panic (?:attacks?|disorder)|tinnitus|"
    r"kidney stones?|hearing (?:loss|aids?)|wheelchair|prosthe\w+|hepatitis|tuberculosis|lupus|gout|"
    r"overweight|obes\w+|anorexi\w+|bulimi\w+|ocd|ptsd|leuk\w+|parkinson\w*|alzheimer\w*|"
    r"c(?:o)?eliac\b|(?:\w+ )?(?:disease|disorder|syndrome)|\w+ intoleran\w+)"
)
_HAS = (
    r"(?:has|have|had|having|suffers?(?: from)?|suffering(?: from)?|diagnosed with|treated for|"
    r"in treatment for|"
    r"takes?|taking|injects?|recover(?:s|ing) from|is on|are on|undergo\w*|is|was|got|struggl\w+ with|"
    r"because of|"
    r"with (?:a|an))"
)
_BELONGS = (
    r"(?:muslim|jewish|catholic|protestant|hindu|buddhist|atheist|gay|lesbian|bisexual|transgender|"
    r"trans woman|"
    r"of (?:\w+ )?(?:descent|ancestry)|trans man|homosexual|heterosexual|roma|black|latino|"
    r"latina|an? (?:undocumented|illegal) immigrant|"
    r"an? (?:republican|democrat|communist|socialist|nationalist)|left.wing|right.wing|a trade union member)"
)
_ILLNESS_ZH = (
    r"(?:糖尿病|抑郁症?|癌症?|肿瘤|多动症|自闭症|哮喘|癫痫|艾滋|焦虑症|双相|怀孕|孕期|偏头痛|腰椎间盘|"
    r"痴呆|高血压|精神分裂|胰岛素|抗抑郁药?|化疗|放疗|透析|心理(?:医生|咨询|治疗)|手术|过敏|中风|心脏病|"
    r"关节炎|酗酒|上瘾|肝炎|甲亢|甲减|乳糜泻|失眠|残疾|强迫症|惊恐|恐惧症|肝硬化|溃疡|结石|肾炎|胃炎|"
    r"痛风|白血病|帕金森|阅读障碍|厌食|肥胖症|耳鸣|骨折|红斑狼疮|肺结核|不孕|流产|心慌|心悸|躁郁|"
    r"不耐受|综合征|障碍症?)"
)
_BELONGS_ZH = (
    r"(?:穆斯林|回族|犹太人|天主教徒?|基督徒|佛教徒|同性恋|双性恋|异性恋|跨性别|无神论者|少数民族|"
    r"非法移民|民主党|共和党|党员)"
)
_AMOUNT = r"(?:[$€£¥]|usd|eur|chf|rmb)? ?\d[\d,.']*(?: ?k\b)?"
_AMOUNT_ZH = r"[\d,.一二三四五六七八九十百]+\s*[千万亿kw]?"

_HEALTH = (
    (
        rf"\b{_HAS}\b[^.\n]{{0,30}}\b{_ILLNESS}\b|\b(?:on|took) (?:sick|medical|maternity|parental) leave\b|"
        r"\bcalled in sick\b|\bhospitali[sz]ed\b"
    ),
    (
        rf"(?:有|患|得了|得过|接受|确诊|因为?|在吃|在做|要打|打|服用|做过|是|查出|"
        rf"曾经?)[^,.\n]{{0,8}}{_ILLNESS_ZH}|对[^,.\n]{{1,8}}过敏|病假|产假期间|住院(?!部|系统|楼|号)|吃药|"
        rf"怀孕了"
    ),
)
_PRIVATE_LIFE = (
    (
        r"\b(?:he|she|they|neighbou?r|colleague|boss|friend|brother|sister|uncle|aunt|cousin|husband|wife|"
        r"manager|partner|flatmate|intern|tenant)(?:'s \w+)? (?:drinks\b(?! \w+)|drinks and|gambles|"
        r"was (?:in prison|arrested|convicted|laid off|fired)|got (?:fired|laid off)|cheated|"
        r"lost (?:his|her|their) (?:licen[cs]e|job|house)|can hardly pay)\b|"
        r"\b(?:his|her|their|\w+'s) (?:blood (?:type|group)|criminal record|work permit|"
        r"birthday\b[^.\n]{0,12}\d)|"
        r"\b(?:has|have) no work permit\b|\bgoing through a (?:divorce|separation|breakup)\b|"
        r"\bcan hardly pay (?:the |their |his |her )?(?:rent|bills)\b"
    ),
    (
        r"(?:他|她|其|用户|对方)[^,.\n]{0,6}(?:心脏|肝|肾|肺|胃|血压|血糖|精神|身体|听力)(?:不(?:太)?好|"
        r"有(?:点)?(?:问题|毛病))|(?:他|她|其|邻居|同事|朋友|老板|领导|亲戚|叔|舅|姨|哥|弟|姐|妹|爸|妈)"
        r"[^,.\n]{0,6}(?:酗酒|吸毒|戒毒|赌博|坐过牢|出轨|自杀|抑郁|化疗|在办离婚)|(?:他|她|其|的|是)\s*(?:a|b|ab|o)\s*型血|"
        r"没有工作许可|被裁(?:了|员)|(?:房租|房贷|学费)[^,.\n]{0,4}交不起"
    ),
)
_MONEY = (
    (
        rf"\b(?:earns?|makes|is paid|salary (?:is|of)|income (?:is|of)|owes?|net worth (?:is|of)|"
        rf"inherited)\b[^.\n]{{0,25}}"
        rf"{_AMOUNT}|\b(?:in debt|money problems?|bankrupt\b|short of money|(?:has|have|took out|"
        rf"behind on) (?:an? |the |his |"
        r"her |their )?(?:mortgage|loan|debts?|credit card debt)|credit score|behind (?:on|with) (?:the |"
        r"his |"
        r"her |their )?(?:rent|payments)|(?:is|are) (?:getting )?divorc\w+|going through a (?:divorce|"
        r"separation|breakup)|cannot afford|can't afford|"
        r"lives? (?:on|off) (?:unemployment |social |state )?(?:benefits?|welfare)|(?:lost|losing) (?:his|"
        r"her|"
        r"their) job|(?:is|are) unemployed|"
        r"broke\b(?= (?:again|at the end|this month)))"
    ),
    (
        rf"(?:年薪|月薪|工资|薪水|收入|存款|身家)\s*(?:是|有|约|大概|只有)?\s*{_AMOUNT_ZH}|(?:欠|背)(?:了|着|"
        rf"有)?[^,.\n]{{0,4}}(?:债|钱|房贷|贷款|款)|"
        r"手头[^,.\n]{0,4}紧|负债|破产了|还不起|信用(?:分|评分)(?:很|只|低|是)|失业|丢了工作|吃低保|"
        r"经济(?:困难|拮据)|缺钱|(?:房租|月供|房贷)[^,.\n]{0,4}(?:拖欠|没交|逾期)|(?:闹|办|要)离婚"
    ),
)
_BELONGING = (
    (
        rf"\b(?:is|are|was|be|being|as)(?: \w+)? (?:an? )?{_BELONGS}\b(?! (?:box|list|mode|theme|screen|"
        rf"background|"
        r"friday))|\bvotes? for\b|\b(?:believes|prays) (?:in|to) \w+|\bsexual orientation\b"
    ),
    rf"(?:是|为|信|属于|算)[^,.\n]{{0,4}}{_BELONGS_ZH}|{_BELONGS_ZH}$|信(?:佛|教|基督|伊斯兰)|性取向",
)
_CONCLUDED = (
    (
        r"\b(?:the user|he|she|they|his|her|their)\b[^.\n]{2,80}(?:\bhence\b|\bthus\b|\btherefore\b|"
        r"\bso (?:he|she|they|the user)\b|: the user\b)"
        r"[^.\n]{0,20}\b(?:is|are|has|have|must|earns?)\b|\b(?:indicates?|suggests?|shows?(?= that)|shows|"
        r"showed|reveals?|betrays?|implies|imply|points? to|gives? away|"
        r"judging|evidently|"
        r"obviously)\b[^.\n]{0,60}\b(?:the user|he|she|they)(?: \w+)? (?:is|are|has|suffers?|earns?|votes?|"
        r"belongs?|"
        r"comes? from|grew up|lives? alone|was (?:born|raised|fired|laid off)|drinks|must be|struggles?)\b"
    ),
    (
        r"(?:用户|他们?|她们?)[^.\n]{2,30}(?:所以|说明|可见|看来|肯定|多半)(?:是|有|没有?|不|已|信|怀|离|缺)|"
        r"(?:说明|表明|可见|看来|推断|判断|足见|显然|想必|估计|多半|看得出|推测|推知|暗示|反映出?)[^.\n]{0,16}(?:用户|其|他|她|"
        r"对方)[^,.\n]{0,6}(?:是|有|患|信|属|来自|收入|负债|户籍|民族|单身|已婚|离异|家境|经济|身体|怀孕)|"
        r"(?:用户|他|她|对方)的?(?:户籍|民族|籍贯|收入|年龄|婚姻|宗教|家境|血型|性取向)[^,.\n]{0,4}(?:应|大概|可能|多半|估计)"
    ),
)
_CONTACT = (
    (
        r"\b(?!(?:support|info|no-?reply|git|admin|security|help|sales|team|hello|ops|dev|billing|root|"
        r"postmaster|"
        r"contact|office|press|jobs|abuse|webmaster|user|you|name|someone|test|example|alerts?|builds?|ci|"
        r"bot)\b[^@\s]{0,60}@)"
        r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,24}){1,4}\b"
    ),
    (
        r"(?<![\w.])(?:\+|00)\d{1,3}[ ./()-]{0,2}\d{1,4}(?:[ ./()-]{1,2}\d{2,8}){1,5}(?![\w.])|"
        r"(?<![\w.])\+\d{9,14}(?!\w)"
    ),
    (
        r"\b(?:phone|landline|fax|mobile|cell|tel(?:ephone)?|call|reach|text|whatsapp|number is|ring|"
        r"dial)\b[^\n]{0,40}?"
        r"(?<!\d)(?:\d[ ./()-]{0,2}){7,14}(?!\d)"
    ),
    (
        r"(?<!\d)1[3-9]\d(?:[ -]?\d{4}){2}(?!\d)|(?:电话|手机|座机|微信|致电|拨打|"
        r"联系)[^\n]{0,14}?(?<!\d)0?\d{2,4}-?\d{7,8}(?!\d)|"
        r"(?:微信|qq)号?\s*(?:是|为|:)\s*[\w-]{5,}"
    ),
    (
        r"\b\d{1,5}[a-z]? (?-i:[A-Z])\w{1,30}(?: (?-i:[A-Z])\w{1,30})? (?:street|road|avenue|lane|drive|"
        r"boulevard|square|court|way)\b|"
        r"(?-i:\b[A-Z])\w{1,30}(?:straße|strasse|weg|gasse|platz) \d+\b|\b(?:home|private|"
        r"postal) address (?:is|:)"
    ),
    (
        r"(?:路|街|道|巷|弄|胡同|大道)\s*\d+\s*(?:号|弄)|(?:住在|住址|家住|家庭地址)[^,.\n]{0,20}(?:路|街|巷|"
        r"弄|号|栋|单元|小区)"
    ),
)
_IDENTIFIER = (
    (
        r"\b(?:passport|social security|ssn|identity card|id card|national id|driver'?s? licen[cs]e|"
        r"tax(?:payer)? id|"
        r"insurance|health card|visa|licen[cs]e plate|bank account|iban|student|employee)(?: (?:number|no\.?|"
        r"id|card))*"
        r"(?: is| was|:| =|#)? *[#:]? ?(?=[a-z0-9 -]{0,12}\d{3})[a-z0-9][a-z0-9 -]{4,}"
    ),
    (
        r"\b(?:was |is )?born (?:on|in) (?:\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))|"
        r"\bdate of birth\b.{0,6}\d|"
        r"\bbirthday is\b"
    ),
    (
        r"(?:护照|身份证|社保|驾照|驾驶证|医保|银行卡|车牌|学号|工号|税号)(?:号码?|编号)?\s*(?:是|为|"
        r":)?\s*(?=[a-z0-9]*\d{3})[a-z0-9]{5,}"
    ),
    r"\d{4}\s*年\s*\d{1,2}\s*月(?:\s*\d{1,2}\s*[日号])?\s*(?:出生|生)|(?:生日|出生日期)(?:是|为|:)?\s*\d",
)

_PATTERNS: dict[str, re.Pattern[str]] = {
    "identifier": re.compile("|".join(_IDENTIFIER), re.IGNORECASE),
    "contact": re.compile("|".join(_CONTACT), re.IGNORECASE),
    "health": re.compile("|".join(_HEALTH), re.IGNORECASE),
    "money": re.compile("|".join(_MONEY), re.IGNORECASE),
    "belonging": re.compile("|".join((*_BELONGING, *_CONCLUDED, *_PRIVATE_LIFE)), re.IGNORECASE),
}

_OWN = re.compile(
    r"\b(?:i|i'm|i've|my (?:own )?(?:e-?mail|phone|mobile|number|address|passport|birthday|salary|"
    r"mortgage|loan|"
    r"doctor|therapist|allerg\w+))\b|(?:^|[^a-z])我(?:的(?:邮箱|电话|手机|地址|微信|生日|护照|工资|年薪|"
    r"药)|对|有|在|患|每|住|是|得|欠)|本人",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:he|she|his|her|their|colleague|wife|husband|partner|manager|boss|son|daughter|child|mother|"
    r"father|sister|"
    r"brother|friend|neighbou?r|mr|mrs|ms|dr|coworker|team-?mate|client|customer)\b|"
    r"他|她|同事|老婆|妻子|丈夫|老公|领导|老板|儿子|女儿|孩子|妈|爸|母亲|父亲|朋友|邻居|先生|女士|客户",
    re.IGNORECASE,
)
_INFERRED = re.compile(
    r"\b(?:judging|suggests?|concluded?|infer\w*|given the|going by|indicates?|implies|must (?:be|have)|"
    r"as (?:the |his |her |their )?\w+ (?:are|is))\b|推断|推测|判断|说明|看来|由此|可见|看得出|"
    r"从[^,.\n]{1,14}看",
    re.IGNORECASE,
)


def personal_data(text: str, *, guessed: bool, own_words: bool) -> str | None:
    """Code of the personal data in `text`, or None: identifier, contact, health, finances or inference.

    `guessed`: the text hedges; `own_words`: it is what the user said, so that what the user tells about
    themselves in the first person is theirs to keep.
    """
    found = next((code for code, pattern in _PATTERNS.items() if pattern.search(text)), None)
    if found is None:
        return None
    if own_words and _OWN.search(text) and not _OTHERS.search(text):
        return None
    if found in {"identifier", "contact"}:
        return found
    if found == "belonging" or guessed or _INFERRED.search(text):
        return "inference"
    return "finances" if found == "money" else "health"
