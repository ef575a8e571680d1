"""English wording of the signals, as regular expressions by code. Data only.

Read on lower-cased normalised text. Gaps are bounded, so that no text makes matching slow.
"""

from __future__ import annotations

_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_FEW = r"(?:a few|a couple of|some|two|three|four|five|six|seven|ten|\d+)"
_SPAN = rf"(?:week|month|quarter|year|sprint|morning|afternoon|evening|night|weekend|{_DAYS})"
_RELATIVE = (
    rf"(?:today|tonight|tomorrow|yesterday|(?:this|next|last) {_SPAN}(?:'s)?|earlier today|"
    rf"{_FEW} (?:minutes|hours|days|weeks) ago|"
    rf"(?<!due )(?<!paid )(?<!payable )(?<!delivered )(?<!answered )in {_FEW} (?:hours|days|weeks)|(?:this|"
    rf"since the) morning|"
    rf"(?:\w+s|will|is|are|was|be|meets?)(?: \w+){{0,2}} on {_DAYS}|by {_DAYS}|"
    rf"(?:an?|one) (?:hour|day|week) ago)"
)
_FROM = r"(?:from|starting|as of|since|beginning|until)"
_NUMBER = r"(?:\d+(?:[.,:]\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|half an?)"
_UNIT = r"(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|m ?\d+ ?s)"
_ID = r"(?=[0-9a-f]*\d)(?:[0-9a-f]{6,}|[0-9a-f]{3,}-[0-9a-f-]{2,}|(?!(?:19|20)\d\d\b)\d{4,})"

SIGNALS: dict[str, str] = {
    "relative_date": rf"(?<!than )(?<!not )\b(?<!from )(?<!starting )(?<!as of )(?<!beginning ){_RELATIVE}\b",
    "dated_start": rf"\b{_FROM} {_RELATIVE}\b",
    "temporary_path": (
        r"(?:/tmp|/var/tmp|/var/folders|/dev/shm)/[\w.]|\\temp\\|%temp%|\$tmpdir|~/downloads/|"
        r"\b(?:scratch|temporary|throwaway) (?:copy|copies|file|folder|directory|branch|path|database|token)|"
        r"\bfor (?:this|the current) session\b"
    ),
    "process_id": (
        r"\bpids? *(?:is|was|[:=#])? *\d+|"
        r"\b(?:process|job|container|session|run|request|trace|build|task|thread|pod|worker|pipeline)"
        rf"(?: (?:id|no\.?|number))?(?: (?:is|was|with|called))? *[:=#]? *{_ID}\b"
    ),
    "one_off_timing": (
        r"\b(?:took|needed|finished (?:in|after)|completed (?:in|after)|done in|ran (?:for|in)|lasted|"
        r"elapsed|"
        rf"passed in|built in|returned in|came back in|duration:?)[^.;\n]{{0,30}}?\b{_NUMBER} ?{_UNIT}\b|"
        rf"\b{_NUMBER} ?{_UNIT} (?:this time|on the last run|in the last run|in the run|in total|elapsed)\b|"
        rf"\b(?:p\d\d|median|average|latency|mean|runtime|throughput)(?: \w+)? (?:was|of|came to|"
        rf"reached) {_NUMBER}"
    ),
    "running_state": (
        r"\b(?:currently|at the moment|right now|at present|as of now|for the moment|just now|for now|"
        r"these days|presently|so far)\b|"
        r"\b(?:is|are|keeps?) (?:still |again )?(?:down|timing out|failing|unreachable|offline|full|"
        r"stuck(?! (?:on|at|with) )|hanging|not responding|crashing|overloaded|rate.limited|"
        r"waiting)\b(?! (?:if|when|because|since|"
        r"after))|"
        r"\b(?:has|have) been (?:\w+ )?(?:red|down|failing|broken|slow|offline|stuck|unreachable|flaky)\b|"
        r"\bretrying\b|"
        r"\bnobody (?:is on it|has (?:picked|looked))|(?:^|[,;] ?)[\w -]{1,40} unreachable\b|"
        r"\b(?:nobody|no one|none of us|users|we|i) (?:can|could)(?:not|n't)? (?:\w+ ){1,6}since\b|"
        r"\b(?:and|still|keeps) (?:rising|falling|growing|climbing|dropping)\b"
    ),
    "hypothetical": (
        r"\b(?:suppose|supposing|imagine|hypothetically|what if|assuming (?:we|that|the)|one could|"
        r"would be (?:nice|great|cool|good|interesting)|one day|some day|might want to|in theory)\b|"
        r"\bif (?:we|i|they|you|it|he|she|the \w+)(?: \w+){0,2}? ?(?:ever|were|had|wanted|moved|switched|"
        r"decided)\b|"
        r"\bif\b[^.\n]{0,120}\b(?:would|could|might)\b|\bwere we to\b|\bshould we ever\b|"
        r"\b(?:we|one|they) could (?:also|then|maybe|perhaps|consider|try)\b"
    ),
    "question": (
        r"\?(?=[\s\")]|$)|\b(?:wondering|asking (?:myself|ourselves)|no idea|need to (?:find out|"
        r"decide)) (?:whether|if|who|"
        r"what|how|why)\b|\b(?:(?:is|are) (?:still|yet) open|remains? open|is open whether)\b|\b(?:is|are|"
        r"remains?) (?:still |yet )?(?:undecided|tbd|to be (?:decided|"
        r"clarified|discussed))\b|\b(?:open question|undecided|not clear|unclear|remains open) (?:is |"
        r"whether|"
        r"if)"
    ),
    "guess": (
        r"\b(?:probably|perhaps|maybe|presumably|supposedly|apparently|possibly|conceivably|"
        r"(?:most|very|quite) likely|likely (?:has|have|is|are|to|because|due|the|that|a|wants?|prefers?)|"
        r"i(?:'d| would)? (?:think|believe|guess|assume|suspect|suppose|reckon|imagine|gather)|"
        r"(?:it|this|that|there) (?:seems?|appears?|looks? (?:like|as))|seem(?:s|ed)? to|appear(?:s|ed)? to|"
        r"(?:might|may|could) (?:be|have|own|want|prefer|come|belong|well)|"
        r"my (?:impression|guess|hunch|assumption|feeling)|(?:not|never) (?:sure|certain|verified|confirmed)|"
        r"have(?: not|n't) (?:checked|verified|confirmed)|as far as i (?:can tell|know)|from what i can tell|"
        r"must have \w+(?:ed|en|ne|nt|de|ft)|judging by|i have a feeling|guessing|suggests that|"
        r"can be concluded)\b"
    ),
    "discussion": (
        r"\b(?:talked about|discussed|brainstormed|went over|considered|explored|weighed|debated|compared|"
        r"floated|toyed with)\b"
    ),
    "chat_log": (
        r"^\W*(?:the |this )?(?:user|assistant|agent|model|conversation|session)(?: then| also)? "
        r"(?:asked|requested|wanted to (?:know|see)|got|received|explained|thanked|answered|showed|wrote|"
        r"provided|"
        r"helped|was about|opened|looked|greeted|confirmed|summari[sz]ed|reviewed)\b|"
        r"\b(?:everything|all) (?:went|is|was) (?:fine|well|ok|okay|good)\b|\bsaid (?:thank you|thanks|"
        r"hello)\b|"
        r"\b(?:was|were) (?:shown|explained|told) how\b"
    ),
    "common_knowledge": (
        r"\b(?:is|are) an? (?:[\w-]+ ){0,3}(?:programming language|framework|library|protocol|file format|"
        r"data format|database|operating system|algorithm|text editor|version control system|markup language|"
        r"design pattern|data structure)\b|\bhttp(?: status)?(?: code)? ?[1-5]\d\d (?:means|is|stands)\b|"
        r"\bstands for\b|\b(?:it is|as is) (?:well|generally|commonly) known\b|\bin general,? (?:it is|one)\b"
    ),
    "explicit": (
        r"\b(?:always|never|from now on|in (?:the )?future\b(?! (?:we|it|this|the))|remember|keep in mind|"
        r"bear in mind|going forward|henceforth|(?:do not|don't) ever|make sure|every time|each time|"
        r"whenever|"
        r"as a rule|by default|under no circumstances|without exception|don't forget|no matter|must|"
        r"from here on)\b"
    ),
    "preference": (
        r"\b(?:prefers?|preferred|likes?|dislikes?|hates?|loves?|wants?|would rather|can't stand|insists? on|"
        r"favou?rs?|does(?: not|n't) (?:like|want)|don't (?:like|want)|appreciates?|expects?|"
        r"asked (?:to|that|(?:us|me) to)|is used to|cares about|objects? to|reads? \w+ on|finds? \w+ (?:hard|"
        r"easy))\b"
    ),
    "correction": (
        r"\b(?:twice|again|repeatedly|more than once|several times|(?:two|three|four|\d+) times|once more|"
        r"(?:second|third|fourth|\w+th) time|keeps?|each time|every time|over and over)\b[^.;\n]{0,60}"
        r"\b(?:correct\w*|reject\w*|chang\w*|undid|undo\w*|revert\w*|replac\w*|said|told|remind\w*|remov\w*|"
        r"renam\w*|rewr\w*|complain\w*|asked|not wanted|delet\w*)|"
        r"\b(?:correct\w*|reject\w*|undid|undone|revert\w*|replac\w*|remind\w*|remov\w*|rewr\w+|complain\w*|"
        r"chang\w+|said|told|pointed out|sent back|turned down|asked)\b[^.;\n]{0,60}"
        r"\b(?:twice|again|repeatedly|more than once|several times|(?:two|three|four|\d+) times|once more|"
        r"(?:second|third|fourth) time|every time|each time)\b|\bfor the (?:second|third|fourth|"
        r"\w+th) time\b|\bstop \w+ing\b|\b(?:twice|again|repeatedly|keeps)\b[^.;\n]{0,40}\b(?:put|putting|"
        r"added|moved|restored|turned)\b[^.;\n]{0,40}\bback\b"
    ),
    "confirmed": (
        r"\b(?:accepted|approved|merged|went through|taken over)\b[^.\n]{0,30}\b(?:without|at once|unchanged|"
        r"the first time|as is|straight away|immediately)\b|\bworked (?:well|best|at once|the first time)\b"
    ),
    "trigger": (
        r"\b(?:if|when|whenever|on|in case of|before|after|once|for)\b[^.\n]{1,120}\b(?:check|look|verify|"
        r"inspect|"
        r"see (?:whether|if)|make sure|ask|compare|clear|read|try|confirm)\b[^.\n]{0,80}"
        r"\b(?:first|before|instead|rather than|not)\b|"
        r"\b(?:check|look at|verify|inspect|clear|compare|confirm|see whether|read|"
        r"suspect)\b[^.\n]{1,80}\b(?:first|"
        r"before (?:\w+ing|you|any|the))\b|"
        r"\bis (?:the )?first (?:place|thing|suspect)\b|"
        r"\b(?:before|instead of|rather than) \w+ing\b[^.\n]{1,100}\b(?:check|look|verify|see|compare|"
        r"confirm|ask|"
        r"clear|read|list)\b|"
        r"\b(?:means|points to|indicates|comes? from|is a sign of)\b[^.\n]{1,90}(?:, |,? but |\band )not\b|"
        r"\b(?:do not|don't|never) (?:\w+ ){1,5}(?:if|when|until|before)\b"
    ),
    "cause": (
        r"\b(?:cause[sd]?|because|due to|root cause|reason|comes? from|came from|stems? from|traced to|"
        r"turned out (?:to be|that)|the culprit|since|as soon as|triggered by|broke|blocked|stalls? if|"
        r"freezes? (?:when|if)|fails? (?:when|if)|only (?:when|if)|when the|when(?:ever)? \w+ \w+ is|"
        r"whenever|if the|after the|without)\b|: the \w+"
    ),
    "verification": (
        r"\b(?:verif(?:y|ied|ication)|confirms?|confirmed|proves?|proof|check(?::| that|s)|must (?:be|"
        r"move|show|"
        r"read|appear)|should (?:then )?(?:be|show|read|fall|rise)|fixed it|(?:is|are) (?:fine|ok|good|"
        r"healthy)|went (?:green|away)|"
        r"(?:falls?|rises?|turns?|drops?|recovers?) (?:within|below|above|to|after)|"
        r"within \w+ (?:minutes?|seconds?|"
        r"steps))\b"
    ),
    "stop_rule": (
        r"\b(?:stop|give up|abort|do not|don't|never|escalate|call the|report|no more than|at most|"
        r"if (?:it|that|this) (?:still|is not|does not|fails))\b"
    ),
    "fix": (
        r"\b(?:fix(?:ed|es)?|workaround|remedy|correct it|solution|solved|helps?|restart\w*|reset\w*|"
        r"rinse|flush|reboot\w*|repair\w*|renew\w*|"
        r"replac\w+|"
        r"disabl\w+|enabl\w+|switch\w*|clear\w*|clos(?:e|ing)|run the|use the|wait(?:ing)?|rais(?:e|ing)|"
        r"lower\w*|delet\w+|reinstall\w*|clean\w*|escap(?:e|ing)|wip(?:e|ing)|mov(?:e|ing)|put|use|"
        r"upgrad\w+|downgrad\w+|remov\w+)\b"
    ),
    "map": (
        r"\bnot (?:in|part of|stored in|kept in|through|visible in) (?:the |any )?(?:repo|repository|code|"
        r"codebase|"
        r"ticket|wiki|source)|\boutside (?:of )?(?:the )?(?:repo|repository|code)|"
        r"\b(?:maintained|owned|kept|curated|managed|switched|edited|generated|administered) (?:in|by|"
        r"from|through)\b|"
        r"\bgo(?:es)? (?:through|to)\b|\b(?:frozen|legacy|abandoned|unused|read.only|deprecated|"
        r"misleading)\b|"
        r"\b(?:only|real|actual|authoritative|complete) (?:\w+ ){0,3}(?:lives?|is|are|list|copy|place|"
        r"source)\b|"
        r"\bstart (?:with|from|at) the\b|\bask \w+ .{0,30}for (?:an? )?(?:account|access|password|key)|"
        r"\b(?:must|may) not be edited\b|\bnothing in the (?:code|repo)\b|\baccess (?:only )?(?:through|"
        r"via)\b|"
        r"\bno longer used\b(?! by anyone)|"
        r"\b(?:sits?|stays?|remains?|lies?|is|are|rests?|kept|held|stored) (?:with|at) (?:the|"
        r"our) (?!end\b|top\b|bottom\b)|"
        r"\b(?:originals?|master copy|master copies|source files|sources) (?:\w+ ){0,4}(?:is|are|lies?|"
        r"sits?) (?:in|at|with|on)\b|"
        r"\bonly (?:available|known|kept|exists?|on paper)\b|\bwhat we have (?:here )?is\b|"
        r"\bis only a (?:copy|mirror|rehearsal)\b"
    ),
    "practice": (
        r"\b(?:we|our \w+(?: \w+)?|the (?:project|team|company|product|build|app|site)) (?:always |only |"
        r"now )?(?:use|deploy|run|"
        r"build|ship|host|store|release|test|write|speak|work|support|target|log|keep|name|call|sell|bill|"
        r"pay)s?\b|"
        r"\bour \w+(?: \w+)? (?:is|are)\b|^\W*(?:use|deploy|run|build|start|call|install|format|write|put|"
        r"name|prefer|"
        r"avoid|do not|don't|keep|log|send|set|test|store|release|ship|open|read)\b|\w, not (?:an? |the |"
        r"in |on |with |by )?\w|"
        r"\b(?:responsible for|in charge of|looks? after|takes? care of|answers? for)\b|"
        r"\bthe user (?:lives|works|speaks|teaches|studies|owns|manages|maintains|is based|is an?|uses)\b"
    ),
    "general": (
        r"\b(?:every|each|any|all|only|regardless|per (?:minute|second|hour|day|month|key|user|year)|"
        r"once an?|"
        r"at \d\d?:\d\d|from \w+ to \w+|means?|requires?|allows?|cannot|can't|limit(?:ed)?s?|"
        r"on purpose|deliberately|nothing can|works? (?:only|without)|rejects?|forbids?|skips?|omits?|"
        r"ignores?|lacks?|refuses?|truncates?|rounds?|strips?|repeats?|"
        r"on request of|needs? (?:two|an?|at least)|"
        r"(?:in|on|by) (?:the )?(?:contract|law|regulation)|usually|without (?:notice|warning|internet)|"
        r"unless|"
        r"counts? as|is (?:final|allowed|forbidden|mandatory|optional|reserved|case.sensitive)|yearly|"
        r"monthly|weekly|"
        r"daily|nightly|hourly|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b"
    ),
    "outside": (
        r"\b(?:customers?|clients?|partners?|suppliers?|vendors?|providers?|banks?|auditors?|accountants?|"
        r"insurers?|ministry|"
        r"authority|authorities|tax|legal|finance|support|operations|procurement|accounting|labs?|"
        r"laboratory|factory|"
        r"warehouse|hospital|schools?|landlord|tenants?|regulator|council|sales|marketing|carriers?|"
        r"contractors?|"
        r"contracts?|our (?:\w+ )?(?:team|office|company)|headquarters|the works council|licen[cs]e[sd]?)\b"
    ),
    "recurring": (
        r"\b(?:every (?:day|night|morning|week|month)|daily|nightly|weekly|once a (?:day|week|month)|"
        r"each (?:day|night|run))\b"
    ),
    "reason": (
        r"\b(?:because|since (?!\w+ (?:ago|spring|summer|autumn|winter)\b)|so that|otherwise|insists|due to|"
        r"therefore|in order to|for legal|to avoid|the contract|the law|the auditor|forbids?|depends? on it|"
        r"hence|or else|so the|which is why)"
    ),
    "decision": (
        r"\b(?:decided|agreed|settled on|convention|policy|by agreement|ruled out|we chose|was chosen|"
        r"must not|"
        r"not allowed|only on|are announced|is required|no longer than|at least|at most|not approved)\b"
    ),
    "lesson": (
        r"\b(?:next time|worth (?:repeating|doing|keeping)|lesson|plan (?:for|around|on|\w+ (?:days?|"
        r"hours?))|"
        r"by default|since then|only after|in future|made it (?:pass|work)|"
        r"turned out|avoid|should (?:be|have been)|better to|instead|shows? that|showed that|"
        r"do this (?:for|at|on|whenever)|from then on|learned|learnt|takeaway|next (?:migration|upgrade|"
        r"release)|"
        r"(?:repeat|keep|use) (?:this|that|it) (?:for|in|at|on)|is the way)\b|"
        r"[.;:] (?:use|do|plan|check|keep|split|ask|list|normali[sz]e|start|run|avoid|prefer|test|measure|"
        r"compress|wipe|"
        r"clear|read|write|set|leave|take|give|count|wait|expect|budget|reserve|begin|treat|tell|warn|"
        r"repeat|try)\b"
    ),
}

OURS = r"\b(?:our|we|us|internal|in-house|team|customer|company|partner|vendor|supplier)\b"
"""Speaks of something only this user can know, so it is not common knowledge."""

DECIDED = (
    r"\b(?:decided|agreed|settled on|chose|rejected|ruled out|because|conclusion|concluded)\b(?! to meet)"
)
NOT_DECIDED = (
    r"\b(?:did not|didn't|not|without|no|nothing|never)\b[^.\n]{0,25}\b(?:settle|decid|decision|conclu|"
    r"agree|result)\w*"
)

STATED = (
    r"\b(?:user|he|she|they|client|customer|team|i|we)\b[^.\n]{0,60}\b(?:said|says|stated|told|asked|"
    r"wants?|prefers?|"
    r"insists?|requested|demands?|likes?|dislikes?|hates?|expects?|corrected|rejected)\b|^\W*(?:prefers?|"
    r"likes?|wants?|"
    r"dislikes?|hates?|asked)\b"
)
"""Reports what the user said, in so many words."""
