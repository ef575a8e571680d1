"""English wording, second table: what people say in passing, without declaring it. Data only.

Same codes as `english`; a code of both tables has the wording of both. Read and bounded in the same way.
"""

from __future__ import annotations

_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
PAST = (
    rf"(?:yesterday|last (?:week|month|quarter|year|spring|summer|autumn|fall|winter|sprint|{_DAYS})|"
    r"earlier this (?:week|month|year)|this (?:morning|week|month)|(?:an?|two|three|four|a few|\d+) (?:days?|"
    r"weeks?|months?|years?) ago)"
)
"""A time that has passed."""

_DECIDED = (
    r"(?:decided|agreed|ruled|settled|approved|signed(?: off)?|confirmed|announced|introduced|fixed|voted|"
    r"set|"
    r"chosen|chose|laid down|made clear|learned|lost|burned)"
)
_LANGUAGES = (
    r"(?:python|javascript|typescript|java|golang|rust|c\+\+|sql|git|css|html|bash|linux|react|docker|"
    r"kubernetes|"
    r"json|yaml|tcp|http|dns|ssh|latex|excel)"
)
_WHERE = (
    r"(?:drawer|cabinet|shelf|cupboard|basement|cellar|attic|garage|safe|binder|notebook|spreadsheet|"
    r"mailing list|intranet|sharepoint|confluence|notion|jira|figma|airtable|dropbox|google (?:drive|"
    r"sheets?)|"
    r"grafana|sentry|wiki|mailbox|calendar|phone|tablet|laptop|server room|vault|password manager|share|"
    r"drive|channel|slack|teams|folder on|bucket|tracker|register|registry|portal|account)"
)
_SELF = r"(?:i|i'm|i've|my|me)"

SIGNALS: dict[str, str] = {
    "one_off_timing": (
        r"\bbenchmark(?:s|ed)?\b|\b(?:latest|last|this|first|second) run\b|\b\d+ (?:passed|failed|skipped)\b|"
        r"\bon this machine\b|\bbest of (?:two|three|five|\d)\b"
    ),
    "one_off": (
        r"^\W*(?:could you|can you|would you|make (?:this|that|it)\b|do (?:this|that|it)\b|try again|"
        r"now (?!that)|(?:run|do|try|send|start|open|print|build|read) [^.\n]{1,30}\bagain\b)|"
        r"\bthis (?:paragraph|sentence|section|line|slide|image|chart|snippet|passage|table|wording)\b|"
        r"\bthe (?:first|second|third|other) option\b|\bcomes later\b|\bbefore i say (?:go|so)\b|\bi(?:'m|"
        r" am) (?:on|in|at) (?:the|a|my) (?:train|bus|plane|airport|car|taxi|call|queue|meeting|dentist)\b|"
        r"\bfor the moment\b|\bsince the restart\b|\bis free at\b|"
        r"\bfor the next (?:\w+ )?(?:hours?|minutes?|days?|weeks?)\b|\b(?:until|till) (?:mon|tues|wednes|"
        r"thurs|fri|satur|sun)day\b|\b(?:until|till) (?:noon|midnight|tomorrow|tonight|lunch|further notice|"
        r"\d{1,2}(?::\d\d)? ?(?:am|pm|o'clock))\b|\bmeanwhile\b|\bfor this (?:demo|workshop|presentation|"
        r"interview)\b|\bborrowed (?:one|laptop|phone|machine|account)\b|\b(?:on|using) a borrowed\b|"
        r"\bat the (?:repair shop|dentist|airport)\b|\b(?:is|are) being (?:re)?(?:installed|repaired|moved|"
        r"upgraded|rebuilt|cleaned|migrated|painted)\b|"
        r"\b(?:in|on|for) this (?:draft|file|page|letter|mail|version|branch)\b|\bonly for me\b|"
        r"\b(?:write|make|do|send|answer|format|draw|use|translate|print|call) (?:\w+ ){0,2}?this one \w+|"
        r"\b(?:it's|as) a joke\b|\b(?:until|till) the \w+ is over\b|"
        r"\b(?:just|only) (?:for )?(?:this|that) (?:once|one|time|round|file|page|run|draft)\b|"
        r"\bjust (?:for )?(?:once|today|now)\b|\bas a one.off\b|\bone.time exception\b|"
        r"\bfor (?:this|that) (?:one|particular) \w+|"
        r"\bfor (?:this|the current) (?:file|page|letter|mail|document|report|commit|task|call|request|run|"
        r"draft|deck|ticket|chat|conversation|answer|reply|round|review|branch)\b|"
        r"\bthis time(?: only| around)?(?=[,.;!]|$)|\b(?:the )?rest of (?:the|this) (?:day|session|chat|"
        r"afternoon|evening|week)\b|\b(?:until|till) (?:i'm|i am|we're|we are|it's|it is|she's|he's|"
        r"the \w+ is) "
        r"(?:back|done|finished|through|over|fixed|merged|up|here)\b|\bbefore (?:lunch|the call|"
        r"the meeting)\b"
    ),
    "relative_date": (
        r"\b(?:by|until|till) the end of (?:the|this) (?:day|week)\b|\b(?:out|away|off|back|gone|absent|"
        r"unavailable|on (?:holiday|vacation|leave)) (?:until|till|on|by) |"
        r"\b(?:later|earlier) (?:today|this|tonight)|\bthis very (?:day|moment)\b|\bany minute\b"
    ),
    "running_state": (
        r"\b(?:is|are) (?:being|just|about to be) \w+(?:ed|en)\b(?= (?:now|right|as we))|"
        r"\b(?:hangs|hung) at \d+ ?%|\b(?:is|are|sits?) at \d+ ?(?:%|percent)\b|\bas we speak\b|"
        r"\b(?:has|have) (?:just )?(?:gone|went) (?:down|offline)\b|\bsince (?:this morning|noon|lunch|"
        r"an hour)\b"
    ),
    "hypothetical": (
        r"^\W*(?:were|had) (?:the|we|i|it|he|she|they|there|this|that) [^.\n]{3,80},|\bwould (?:get|"
        r"become) (?:easier|simpler|faster|better|cheaper|possible|nicer?)\b|"
        r"\bwould (?:\w+ )?have (?:been|had|made|\w+ed)\b(?! (?:caught|avoided|prevented))|\bsay we\b|"
        r"\bin (?:a|an ideal|another) world\b|\bone (?:might|could) imagine\b|\bit might be worth\b|"
        r"\bnot that we (?:will|would)\b|\bjust (?:thinking|an idea|a thought)\b|\bfor the sake of argument\b"
    ),
    "imagined": (
        r"\b(?:pretend(?:ing)?|let's (?:assume|say|suppose|imagine)|in a different (?:design|world|setup)|"
        r"imagine (?:we|i|you|that|a|the)|one (?:might|would) (?:first|then|also|have|need)|picture (?:this|"
        r"a world)|thought experiment)\b"
    ),
    "question": (
        r"\bwonders? (?:whether|if|what|who|how|why)\b|\bwants? to know (?:whether|if|what|who|how|why)\b|"
        r"\bremains to be seen\b|\bwhether\b[^.\n]{1,60}\b(?:unclear|open|unknown|not (?:known|decided))\b|"
        r"\bwhat did i (?:say|decide)\b|"
        r"^\W*(?:do|does|did|is|are|was|were|can|could|should|shall|will|would|has|have|what|which|who|why|"
        r"how|when|where)\b[^.!\n]{3,200}\?|\bcan somebody tell\b|\bdo you know\b|\bremind me (?:what|who|"
        r"how|"
        r"when|where|whether)\b"
    ),
    "guess": (
        r"\bif i (?:understood|understand|remember|recall) (?:\w+ )?(?:correctly|right|well)\b|\bi gather\b|"
        r"\blikely of\b|"
        r"\bmy hunch\b|\bgut feeling\b|"
        r"\b(?:evidently|seemingly|i(?:'d| would)? (?:say|bet|wager)|i take it|i have the impression|"
        r"my read(?:ing)? is|sounds? like|feels? like|if i had to guess|for all i know|unconfirmed|"
        r"rumou?r has it|word is|chances are|wouldn't be surprised|odds are|one can assume|"
        r"it stands to reason|"
        r"could (?:be|have) (?:something|caused|due)|nobody (?:has |ever )*(?:said|confirmed|told \w+) (?:so|"
        r"it|"
        r"that)|without (?:having )?(?:checked|looked|asked)|(?:has|have) to be (?:a|an|the|because|due)|"
        r"(?:he|she|they) must be (?:an?|the|new|his|her|their|from|in|on)|surely|no doubt|in all likelihood|"
        r"my money is on|or so it (?:seems|appears))\b"
    ),
    "discussion": (
        r"\b(?:kicked around|bounced ideas|went back and forth|were mentioned|came up in (?:the )?(?:chat|"
        r"call|"
        r"meeting)|opinions differed|no conclusion|left open|was raised)\b"
    ),
    "chat_log": (
        r"\b(?:user|assistant|agent|model)(?: then| also| just)? (?:translated|generated|drafted|formatted|"
        r"listed|"
        r"said (?:thanks|thank|hello|hi|bye|goodbye|ok)|ran|pasted|uploaded|continued|clarified|acknowledged|"
        r"apologi[sz]ed|read|closed|ended|started|switched|searched|fetched|produced|printed|returned|"
        r"rewrote|"
        r"proofread|calculated|converted|created)\b|\b(?:small talk|pleasantries|chatted about)\b|"
        r"\b(?:closed|ended|left) the (?:session|chat|conversation)\b"
    ),
    "common_knowledge": (
        r"\bworks on a computer\b|\bnothing (?:special|much|noteworthy) happened\b|"
        r"\b(?:it is|it's) (?:always |generally )?(?:good|best|wise|important|helpful|"
        r"better)(?: practice)? to\b|\byour passwords?\b|\bwhen things (?:work|go)\b|\bhas an? (?:project|"
        r"computer|question|file|folder)\b|\bsorted data\b|\bwas (?:released|invented|founded|"
        r"created) in (?:19|20)\d\d\b|"
        r"\b(?:is|are) (?:good|bad|healthy|important|useful|harmful) for\b|\bin most (?:languages|cases|"
        r"countries|frameworks|databases)\b|^\W*(?:exercise|sleep|arrays?|strings?|loops?|functions?|classes|"
        r"objects?|pointers?|plants?|humans?|cats?|dogs?|computers?|databases?|compilers?|caching|encryption|"
        r"recursion|testing) \w+s?\b[^.\n]{0,40}$|"
        rf"\b(?:in|of) {_LANGUAGES}\b[^.\n]{{0,40}}\b(?:is|are|means?|can|cannot|has|have)\b|"
        rf"^\W*{_LANGUAGES}(?:'s)? (?:\w+ ){{0,2}}(?:is|are|uses?|has|have|supports?|stores?|allows?|means|"
        rf"keeps|"
        r"tracks|lets)\b|\b(?:good|clean|readable|well-?written) code\b|\b(?:tests?|backups?|documentation|"
        r"comments|security|communication) (?:is|are) (?:important|useful|good|helpful|essential|valuable)\b|"
        r"\b(?:a|one|the) (?:year|week|day|hour|minute|kilobyte|byte|kilometre) (?:has|is|consists)\b|"
        r"\b(?:paris|berlin|london|beijing|tokyo|rome) is (?:the|a) (?:capital|city)\b"
    ),
    "explicit": (
        r"\b(?:full stop|no exceptions?|off.limits|not at all|at all times|until further notice|for good|"
        r"once and for all|not negotiable|non-negotiable|every single|hands off|in every case)\b"
    ),
    "preference": (
        r"\b(?:useless to me|unreadable for me|works? (?:best|better) for me|suits? me|i'd rather|"
        r"i can't stand|"
        r"i find|annoys me|bothers me|my (?:habit|taste|way|style|preference)|i (?:always|never|usually|"
        r"mostly|"
        r"only|generally) \w+|that's how i (?:like|read|work|want)|don't (?:poll|ask|bother|show|send|give|"
        r"bring) "
        r"me|keep it (?:short|simple|brief)|spare me)\b"
    ),
    "correction": (
        r"\b(?:the )?(?:user|client|customer|he|she|boss|editor) (?:\w+ )?(?:moved|replaced|changed|removed|"
        r"rewrote|cut|deleted|undid|restored|renamed|shortened|struck)\b[^.\n]{0,60}\b(?:every|each|all|"
        r"again|both)\b|\bnot (?:that|this) \w+ again\b|"
        r"\b(?:once more|again|before|repeatedly|yet again|as ever)\b[^.;\n]{0,50}\b(?:undo|undone|revert\w*|"
        r"moved|put|changed|fixed|took|taken|switch\w*|convert\w*|rename\w*|strip\w*)\b|"
        r"\b(?:had|have|having) to (?:undo|revert|fix|change|redo|convert|remove|correct|rename|replace|"
        r"strip|"
        r"repeat)\b[^.;\n]{0,60}\b(?:again|before|twice|time|times|every|each)\b|"
        r"\b(?:replac|chang|remov|rewr|cut|delet|undid|undone|revert|reject|correct|shorten|strik|"
        r"struck)\w*\b"
        r"[^.;\n]{0,60}\b(?:in (?:every|each|all)|every|each|on \w+ (?:separate )?occasions)\b|"
        r"\byou(?: have|'ve)? (?:\w+ )?(?:again|once more)\b|\byou(?: have|'ve) (?:put|used|written|added|"
        r"left|made|named|"
        r"called)\b[^.\n]{0,60}\bagain\b|\byou keep \w+ing\b|\b(?:i|we) keep \w+ing\b|\bhow (?:many|"
        r"often) (?:times )?(?:do|must|have) i\b|"
        r"\bas i(?:'ve| have)? (?:said|told|mentioned|explained)\b|\bi(?:'ve| have)? (?:already )?told you\b|"
        r"\bi end up \w+ing\b|\b(?:fourth|fifth|sixth|umpteenth) \w+\b[^.\n]{0,40}\b(?:had to|back|again)\b"
    ),
    "confirmed": (
        r"\b(?:signed off|thumbs up|no comments|first try|on the first (?:try|attempt)|sailed through)\b"
    ),
    "trigger": (
        r"\b(?:means|meant|points? (?:to|at|towards)|indicates|is (?:a sign of|nearly always|almost always|"
        r"usually)|usually (?:means|is|comes)|comes? from)\b[^\n]{0,120}\b(?:so (?:look|check)|look there|"
        r"check|"
        r"before (?:\w+ing|you|any)|waste of time|instead of|rather than|no point|don't|do not|only \w+ can|"
        r"renew|reissue)\b|"
        r"^[^.?!\n]{3,80}\?[^.\w\n]{0,3}(?:then )?(?:check|look|verify|inspect|ask|see|compare|clear|try|"
        r"read|start|open|"
        r"restart)\b|\b(?:look|check|start) (?:there|here) (?:before|first)\b|"
        r"\b(?:look|check|read|open|try|ask|list|see) [^.\n]{1,60}\b(?:before (?:anything|everything|"
        r"touching|"
        r"blaming|suspecting|rotating|restarting|reinstalling|\w+ing)|first)\b|"
        r"\b(?:don't|do not|never) (?:bother|waste|start|go|blame|touch|suspect)\b[^.\n]{1,80}"
    ),
    "map": (
        r"\b(?:is|are|was|were) (?:the )?(?:source of truth|authoritative|canonical)\b|\bcan't be (?:seen|"
        r"read|"
        r"found) (?:in|from)\b|\bthe name (?:is misleading|suggests otherwise)\b|\bignore (?:the|what) \w+|"
        r"\bhand-?maintained\b|\bkept by hand\b|\bonly (?:\w+ ){1,3}(?:has|have|knows?) (?:access|the|it|"
        r"how)\b|"
        r"\b(?:don't|do not|never) (?:trust|rely on|edit|use) the\b|\bdead (?:code|folder|project|service)\b|"
        r"\bthat counts?\b|\blags? behind\b|\bout of date\b|\bstale\b|\bnobody else (?:has|knows)\b|"
        r"\b(?:pruned|partial|"
        r"trimmed|outdated|old) (?:copy|version|extract)\b"
    ),
    "place": (
        r"\b(?:is|are) (?:all )?(?:in|on|with|at) (?:the |an? )?(?:\w+ )?(?:export|archive|backup|"
        r"\w+'s (?:laptop|desk|mailbox|phone|drive|office|cupboard|computer))\b|"
        r"\b(?:kept|stored|filed|archived|hidden|posted|published|tracked|recorded|report(?:s|ed)?|booked|"
        r"handled|"
        r"collected|live[sd]?|sits?|lies?|hangs?) (?:\w+ )?(?:in|on|under|at|to|with|behind|inside) "
        r"(?!the (?:code|repo|repository|source|file|folder|class|module|function|method|package)\b)"
        r"(?:the|our|my|his|her|their|its|an?|another|\w+'s|[a-z]+ (?:project|board|team|desk|list))\b|"
        r"\b(?:the|our|their) (?:real|true|current|latest|up-to-date|old|older|original|master|second|other|"
        r"separate|shared|official|signed) (?:one|copy|version|list|sheet|project|account|board|channel|wiki|"
        r"document|drive|calendar|contract|plan|drawing|key|server|database|mailbox|group)s?\b|"
        r"\b(?:belongs?|goes|go) (?:in|into|on|under|to) the\b|\b(?:most|many) (?:people|of us|newcomers) "
        r"(?:forget|miss|overlook|don't know)|\beasy to (?:miss|overlook|forget)\b|\bnobody (?:knows|"
        r"remembers)\b|"
        rf"\b(?:in|on|under|at|through|via|from) (?:the |our |his |her |their |my |"
        rf"a )?(?:\w+ ){{0,2}}{_WHERE}s?\b|"
        r"\b(?:come|get|obtain|ordered|requested?) from (?:the|our)\b|\bask \w+ (?:in|from|at|for)\b"
    ),
    "limit": (
        r"\b(?:not|never|none|nobody|neither|nor|without|cannot|can't|doesn't|don't|isn't|aren't|won't|"
        r"rejects?|refuses?|locks?|cuts? off|drops?|lags?|loses?|fails?|expires?|forgets?|ignores?|breaks?|"
        r"crashes|freezes|overheats|swallows|blocks?|strips?|until|no (?:\w+ ){0,2}\w+)\b(?! (?:sure|clear|"
        r"yet|fixed|solved))|\b(?:above|below|under|over|beyond|more than|less than|at most|up to|within|"
        r"after) (?:\w+ )?\d"
    ),
    "surprise": (
        r"\b(?:even though|although|despite|contrary to|unlike|in reality|in truth|silently|"
        r"counter-?intuitive\w*|"
        r"confusingly|is misnamed|misleading\w*|oddly|strangely|behaves? differently|differs? from|swapped|"
        r"reversed|inverted|undocumented|on paper|officially|supposed to|not what)\b|"
        r"\b(?:data ?sheet|spec|specification|manual|label|vendor|interface document|brochure|website|print) "
        r"(?:still )?(?:says?|claims?|assumes?|promises|states?|shows?|lists?)\b"
    ),
    "cause": (
        r"\b(?:isn't|is not|wasn't|was not|not) the \w+(?: \w+)?[.,;:]|\b(?:pins|hogs|saturates|exhausts|"
        r"fills) the\b|"
        r"(?:refused|rejected|failed|returned|sent back|delayed|blocked|diverged|"
        r"broke)\b[^.\n]{0,40}\b(?:for|over|because of|whenever|as soon as|once)\b|\bwere blamed on\b|"
        r"\bwas blamed on\b|\b(?:had|has) (?:cut|eaten|dropped|swallowed|overwritten|lost)\b|\btriggers?\b|"
        r"\b(?:root of it|behind it|to blame|at fault|was down to|boil(?:s|ed) down to|stemmed from|owing to|"
        r"thanks to|had kept|had been|hides?|took down|lost (?:us|a|the|two|three|\d)|cost us|"
        r"it was the|has always been|was always|every time it was|missed (?:a|the) deadline|got (?:banned|"
        r"blocked|burned))\b"
    ),
    "fix": (
        r"\b(?:cured|cures|did the trick|brought it (?:down|back)|got rid|renam(?:e|ing)|pin(?:ning|"
        r"ned)|forget(?:ting)?|re-?pair\w*|roll(?:ing|ed) back|split(?:ting)?|retr(?:y|ied)|raised|dropping|"
        r"halving|doubling|turning)\b"
    ),
    "verification": (
        r"\b(?:proved it|you can tell by|tells? whether|once (?:that|the|it) \w+ (?:builds|passes|shows|"
        r"reads|"
        r"loads)|the sign that|shows? up (?:in|as)|count the|came back (?:clean|green)|held (?:for|since|"
        r"up))\b"
    ),
    "stop_rule": (
        r"\b(?:leave it alone|stop searching|it's something (?:else|different)|look elsewhere|hands off|"
        r"no more (?:tries|attempts)|back off|walk away|if not, )\b"
    ),
    "practice": (
        r"^\W*(?:the|our|my|their) (?!user|assistant|agent|model|sun|earth|world|weather|build|code|repo|"
        r"file|class|function|module|test|app|api|script|component|conversation|session|command|output|run|"
        r"job|process|tunnel|server|queue)[\w' -]{2,40}? (?!is\b|was\b|has\b|its\b|this\b|does\b|seems\b|"
        r"looks\b)[a-z]{2,}(?<!s)s (?:to |in |on |at |with |by |for |from |as |into |only |no |an? |the |"
        r"its |all |\d)|"
        rf"\b{_SELF} (?:am |mainly |mostly |work |have )?(?:new to|fluent in|familiar with|used to|"
        rf"colou?r-?blind|"
        r"left-handed|based in|live in|work (?:in|on|from|at|as|with)|teach|maintain|run|own|write|written|"
        r"speak|read|type|use|do) ?\b|\b(?:that's|this is|it's) how (?:we|it|each|every|they)\b|"
        r"\bthe user(?:'s)? (?:has|is|runs|keeps|reads|writes|prefers|can|cannot|only|mainly|mostly|"
        r"native|main|first|team|company|setup|machine|editor|phone|keyboard)\b|"
        r"\b(?:owns|runs|approves|signs|maintains|administers|does) the \w+"
    ),
    "general": (
        r"\b(?:on|by) the (?:\w+th|first|second|third|\d+(?:st|nd|rd|th))\b|\b(?:caps?|capped|ceiling|"
        r"quota)\b|\b(?:two|three|four|five|\d+) times (?:if|when|a|per)\b|\b\d+ (?:characters|lines|columns|"
        r"pages|copies|seats|licen[cs]es|euros|dollars|francs|pounds)\b|\bha(?:s|ve) (?:priority|"
        r"precedence)\b|\bper the \w+|\bunless asked\b|\bby default\b|"
        r"\b(?:nobody but|no one but|nothing but|not (?:more|less|later|earlier) than|never more than|up to|"
        r"from \d+ to|between \d+ and|twice a|three times a|in (?:both|all) |for both|by hand|manually|"
        r"weekends? included|year.round|permanently|for life|on demand|at a time|in that order|the order|"
        r"warranty|guarantee|deadline|due date|payable|notice period|billed|bills? per|charged|charges? per|"
        r"fees?|tariffs?|"
        r"cached for|wiped|expires? (?:every|after)|rotat(?:es|ed)|rounded|truncated|capped|"
        r"no longer (?:updates?|supports?|maintains?|accepts?|ships?)|end.of.life|out of support|"
        r"(?:runs?|works?|talks?|speaks?|listens?|boots?|charges?) (?:only |still )?(?:on|at|in|with) |"
        r"is split|are split|two-step|in two steps)\b"
    ),
    "recurring": (
        r"\b(?:each|every) (?:\w+ )?(?:release|sprint|quarter|deploy\w*|rollout|cycle|semester|term|"
        r"iteration|"
        r"order|batch|visit|invoice|course|trip|month.end|audit|season|harvest|lesson|shift)\b|"
        rf"\bon (?:a )?{_DAYS}\b[^.\n]{{1,60}}\bon (?:a )?{_DAYS}\b|\b{_DAYS} (?:to|through|till) {_DAYS}\b"
    ),
    "reason": (
        r"\b(?:the reason (?:is|being)|for (?:tax|insurance|safety|legal|privacy|licence|license|compliance|"
        r"cost|"
        r"compatibility) reasons|that's why|as (?:the|our|it|they) \w+ (?:can't|cannot|won't|doesn't|don't|"
        r"needs?|"
        r"requires?|only)|or (?:we|they|it|he|she) (?:lose|will|would|gets?|has|have)|to keep the|so nobody|"
        r"have to answer for)\b"
    ),
    "decision": (
        r"\b(?:killed|shelved|scrapped|cancelled|axed|vetoed|turned down|overruled|postponed indefinitely|"
        r"went for|opted for|picked|preferred over)\b|"
        r"\b(?:ruled (?:on|that|out)|(?:stay|staying|stick|sticking|stuck|remains?|remaining|going) (?:on|"
        r"with) |"
        r"was evaluated|were evaluated|dropped in favou?r|in favou?r of|voted|the (?:board|council|committee|"
        r"steering group|faculty|ceo|cto|owner|minutes)|signed off|gave up on|abandoned|instead of building|"
        r"won't (?:be )?(?:support|migrat|rewrit|build|renew|buy|us)\w*|is (?:final|settled|off the table)|"
        r"not up for|we're (?:keeping|staying|dropping|not)|has been decided|by decree)\b"
    ),
    "lesson": (
        r"\bmade (?:the|it|them|all) (?:\w+ ){0,2}?(?:stop|work|pass|go|disappear|vanish|run)\b|\b(?:a|"
        r"one) (?:week|day|month) (?:ahead|before|earlier)\b|\b(?:chased|hunted|searched for|"
        r"debugged)\b[^.\n]{0,40}\b(?:days?|hours?|weeks?)\b|"
        r"\b(?:dead ends?|(?:was|were|is|are) (?:of )?no help|neither (?:was|did|does|were)|"
        r"in the end it was|"
        r"waste of time|wasted|(?:no|of little) use|useless|pointless|in vain|to no avail|futile|"
        r"(?:did not|didn't|does not|doesn't|won't) (?:help|work|change anything|bring)|brought nothing|"
        r"got nowhere|never helped|no effect|red herring|what helped|the second time|beforehand|"
        r"burned us|bitten|the hard way|so (?:list|check|look|ask|always|never|do|use|start|keep|test|read|"
        r"leave|"
        r"wait|measure|pin|call|run|back up|export|freeze|tell)\b)|\b(?:leave|keep) (?:it|them|that|"
        r"anything) "
        r"(?:alone|as|below|within|under|with)\b"
    ),
}

PROVENANCE = (
    rf"\b{_DECIDED}\b[^.,;\n]{{0,30}}\b{PAST}\b|\b{PAST},? (?:we|they|it was|the \w+|"
    rf"\w+) (?:\w+ )?{_DECIDED}\b|"
    rf"\b(?:because|the reason (?:is|was)|after) [^.\n]{{0,60}}\b{PAST}\b"
)
"""When it was decided, or what once happened as its reason: a date that does not pass."""
