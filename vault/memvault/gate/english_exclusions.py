"""English wording of what is refused even on request, as regular expressions by code. Data only.

Read case-insensitively on normalised text. Gaps are bounded, so that no text makes matching slow.
"""

from __future__ import annotations

_WHO = r"(?:he|she|they|the user|user|the client|the customer|i|my \w+|our \w+)"
_FEELING = (
    r"(?:annoyed|angry|furious|frustrated|irritated|tired|exhausted|happy|delighted|sad|upset|excited|"
    r"stressed|"
    r"grumpy|relieved|anxious|nervous|bored|fed up|down|impatient|disappointed|cheerful|overwhelmed|"
    r"in an? \w+ mood|in good spirits|pleased|worried)"
)
_CODE = (
    r"(?:\b[\w.-]{1,60}/[\w./-]{1,60}|\b[\w-]{1,60}\.(?:py|ts|tsx|js|jsx|go|rs|java|kt|rb|c|h|cpp|cs|"
    r"swift|sql|sh|vue|ya?ml|json|toml|css|html|ini|cfg)|\b\w{1,60}\(\)|\b\w{1,40}_\w{1,40})"
)
_CAMEL = r"(?-i:\b[A-Z][a-z0-9]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6})"
_MANIFEST = (
    r"(?:pyproject\.toml|package\.json|requirements\.txt|cargo\.toml|go\.mod|pom\.xml|gemfile|dockerfile|"
    r"makefile|"
    r"tsconfig\.json|docker-compose\.ya?ml|build\.gradle|setup\.cfg|\.env\.example)"
)
_LAYOUT = (
    r"(?:contains?|holds?|has|have|consists? of|(?:is|are|sits?|lives?|resides?)(?: located| defined|"
    r" implemented| "
    r"declared| found| kept| placed)? (?:in|under|at)|exports?|defines?|declares?|implements?|imports?|"
    r"inherits?|extends|"
    r"takes?|returns?|accepts?|calls?|pins?|lists?|exposes?|wraps?|is split into|is organi[sz]ed|"
    r"are grouped|reads?|falls? back|"
    r"uses?|handles?|parses?|loads?|starts?|sets?|runs?|creates?|registers?|renders?|stores?|maps?|wraps?|"
    r"checks? that)"
)
_DOCUMENT = (
    r"(?:readme(?:\.md)?|claude\.md|agents\.md|contributing(?:\.md)?|(?:contributing|style|user|install\w*|"
    r"developer|getting.started|reference|migration) guide|documentation|docs|manual|handbook|changelog|"
    r"release notes|man page|docstring|project instructions|\.cursorrules|copilot.instructions)"
)
_SAYS = (
    r"(?:says?|states?|asks?|lists?|explains?|describes?|requires?|mentions?|recommends?|documents?|notes?|"
    r"specif(?:y|ies)|tells?|instructs?|warns?|shows?|covers?|defines?)"
)

EXCLUSIONS: dict[str, str] = {
    "derivable": (
        r"\b(?:folder|director(?:y|ies)|package|module|file|class|struct|interface|enum|component|repo|"
        r"repository|"
        rf"codebase|source tree|function|method|endpoint handler|table|schema|"
        rf"test suite)\b[^.\n]{{0,50}}\b{_LAYOUT}\b|"
        rf"(?:{_CODE}|{_CAMEL}|{_MANIFEST})`? (?:\w+ ){{0,3}}?{_LAYOUT}\b|"
        r"\b(?:is|are) (?:the |an? )?(?:\w+ ){0,2}(?:defined|implemented|declared|located|found|stored)? ?"
        rf"(?:in|under|at) (?:the )?(?:file |folder |module |class )?(?:{_CODE}|{_CAMEL})|"
        r"\bthere (?:is|are) (?:\w+ )(?:\w+ ){0,2}(?:packages?|modules?|folders?|files?|classes|tables|"
        r"services|"
        r"endpoints|tests|components|columns|file|module|folder|class) (?:for each|per|in) (?:the |"
        r"this )?(?:\w+)|\binside `?[\w./-]+/|\b(?:is|are) set to \S+ in\b|"
        rf"\bentry ?point (?:of [^.\n]{{1,40}} )?is\b|\b(?:depends on|"
        rf"uses) (?:\w+ ){{0,2}}(?:version )?\d+\.\d+|"
        r"\b(?:is|are) (?:written|built|implemented|coded) (?:in|with|on) |\b(?:foreign key|primary key|"
        r"(?:status |\w+_)column|"
        r"method named|subclass of|inherits from|type alias|environment variable \w+ is read)\b"
    ),
    "history": (
        r"\bcommit (?:hash )?`?[0-9a-f]{7,40}\b|\b(?:pr|pull request|merge request|mr)s?:? ?[#!]?\d+|"
        r"[#!]\d+\b[^.\n]{0,80}[#!]\d+|\bgit (?:blame|log|history|shortlog)\b|\baccording to git\b|"
        r"\b(?:last|latest|recent|previous) (?:\w+ )?commits?\b|"
        r"\b(?:the|all|\d+|two|three|currently|recently) (?:open|merged|closed|recent|pending) (?:pull|"
        r"merge) requests?\b|"
        r"\b(?:committed|authored|merged|reverted|renamed|introduced|rewritten|refactored) by (?-i:[A-Z])\w+|"
        r"(?-i:\b[A-Z][a-z]{1,30}) (?:committed|merged|reverted|refactored|rebased|force-pushed|"
        r"cherry-picked)\b|"
        r"\btagged (?:from|as|at|in|on)\b|\bclosed (?:issues?|tickets?) #?\d+|"
        r"\bcommits? (?:ahead|behind)\b|\b(?:changes|commits|contributions) (?:came|come|were made|are|"
        r"were) (?:from|by)\b"
    ),
    "documented": (
        rf"\b{_DOCUMENT}\b[^.\n]{{0,40}}?\b{_SAYS}\b|"
        rf"\b(?:according to|as (?:described|documented|stated|explained|written) in|per|following|see|"
        rf"listed in|"
        rf"written in|documented in|as) (?:the |our )?(?:[\w.-]+ ){{0,3}}{_DOCUMENT}\b|\bis documented\b|"
        r"\b(?:readme|claude\.md|agents\.md|contributing\.md)\b"
    ),
    "fixed_in_code": (
        r"\b(?:added|removed|changed|swapped|replaced|moved)\b[^.\n]{0,20}\b(?:call|lines?|arguments?|"
        r"parameters?|imports?|calls|bracket|"
        r"branch|flag|loop)\b|\b(?:fixed|solved|resolved|patched|corrected|"
        r"repaired)\b[^\n]{0,60}\b(?:by (?:adding|changing|"
        r"removing|"
        r"replacing|moving|wrapping|renaming|using|returning|setting|catching|passing)|line \d+|in `?"
        rf"(?:{_CODE}|{_CAMEL})|patch|merged|commit(?:ted)?|now (?:\w+s|we|it)\b|we now)|"
        r"\b(?:added|adding|inserted|removed|changed|replaced) (?:an? |the )?(?:missing|wrong|extra|"
        r"superfluous|"
        r"guard|null check|early return|early exit|await|import|type hint|semicolon|try|condition|check)\b|"
        r"\b(?:the )?(?:patch|fix) is (?:merged|in|pushed|committed)|\bsee the (?:change|commit|diff|"
        r"patch)\b|"
        r"\b(?:gone|disappeared|vanished|went away|works) (?:after|since|now that) \w+ing\b|"
        r"\b(?:error|exception|crash|bug|warning|failure|typeerror|keyerror|"
        r"nullpointer\w*)\b[^.\n]{0,40}\b(?:is |was )?(?:gone|fixed|solved|"
        r"resolved|no longer (?:occurs|happens))\b"
    ),
    "in_progress": (
        r"\b(?:working (?:on|through)|currently \w+ing|next steps?:? (?:is|are|will|would)?|"
        r"still (?:to do|todo|has to|"
        r"have to|missing|open|left)|to-?do:|half.(?:done|finished|way)|(?:partly|partially) done|"
        r"in progress|"
        r"wip\b|work in progress|remaining (?:work|steps|tasks|tests|files|items)|(?:have|has|had|just|"
        r"'ve) started|"
        r"(?:am|is|are|still) waiting (?:for|on)|"
        r"(?:\w+) (?:out )?of (?:\w+) (?:\w+ )?(?:is |are )?(?:green|done|passing|left|migrated|finished|"
        r"ready|ported)\b|"
        r"(?:not|isn't|aren't) (?:yet )?(?:finished|done|merged|wired|ported)|"
        r"continue (?:with|tomorrow|later|from)|left off|picked up where|"
        r"i(?:'ll| will| am going to) (?:now|then|next|continue)|about to (?:\w+)|\w+ done, \w+|"
        r"on branch \w+)"
    ),
    "raw_thought": (
        r"\bhmm+\b|\bwait,|\bwait\.\.|\blet me (?:think|check|see|look|try|re-?read|verify|start)\b|"
        r"\blet's see\b|"
        r"\bactually,? no\b|\bi (?:need|have|want) to (?:figure|look|check|understand|think|find|see|"
        r"first)\b|"
        r"\bstep by step\b|\b(?:so|then) i(?:'ll| will| should| could) (?:try|look|check|go|just)\b|"
        r"^\W*(?:okay|ok|alright|right),? so\b|\bthinking\b.{0,10}:|</?think|\bi wonder\b|"
        r"\bmaybe i should\b|\bon second thought\b|\bthat's odd\b|\bbut then again\b"
    ),
    "mood": (
        rf"\b{_WHO} (?:was|is|am|were|are|got|seems?|seemed|sounds?|sounded|looks?|looked|feels?|felt)"
        rf"(?: (?:a bit|quite|very|so|really|rather|clearly|visibly|slightly|pretty|too))* {_FEELING}\b|"
        rf"^\W*(?:ugh|argh|oh no|damn|finally|yay|phew|sigh)\b|\bi'm (?:so |really |very |"
        rf"just )?{_FEELING}\b|\bin an? \w+ mood\b|"
        r"\b(?:swore|cursed|sighed|laughed|cried|vented|ranted)\b"
    ),
}
"""What is refused even on request, apart from personal data and injected instructions."""

SURPRISE = (
    r"\b(?:but|however|although|contrary|outdated|wrong|misleading|in reality|actually|despite|not true|"
    r"no longer|unlike|(?:does not|doesn't) (?:mention|say|cover|list)|not mentioned|missing from|on purpose|"
    r"deliberately|must not|regardless)\b"
)
"""Says that the document or the code does not hold: that is worth keeping."""
