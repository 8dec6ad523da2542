"""English turns of phrase that bind, or only look as if they did. Apostrophes are straight where these are asked."""

from __future__ import annotations

__all__ = [
    "BELIEF_EN",
    "COMMAND_EN",
    "DONE_EN",
    "FIRST_EN",
    "FURTHER",
    "IDLE_EN",
    "IMPERATIVE_EN",
    "LEAD_IN",
    "MUST_EN",
    "NOTHING_EN",
    "NO_NEWS_EN",
    "OBLIGED_EN",
    "PAST_EN",
    "PLEA_EN",
    "PREPOSITIONS",
    "REQUEST_EN",
    "SELF_EN",
    "STEMS_EN",
    "STRONG_EN",
    "WEAK_EN",
]

_LEAVE = (
    r"(?:confirmation|approval|permission|consent|ok|okay|go[- ]ahead|sign[- ]?off|blessing|green light|"
    r"authori[sz]ation|clearance)\b(?! (?:denied|errors?|status|issues?|problems?|settings))"
)
_NOT = r"(?:do not|don'?t|does not|doesn'?t|did not|didn'?t|would not|wouldn'?t|never|not)"
_WEIGHTY = r"(?:important|essential|crucial|critical|vital|imperative)"

# What binds wherever it stands, short of a first person: a ban or a reserved decision.
STRONG_EN = (
    r"\b(?:(?:is|are) not (?:allowed|permitted)|(?:isn'?t|aren'?t|not) allowed to|(?:isn'?t|aren'?t) permitted|"
    r"(?:is|are|you're) (?:strictly |expressly )?(?:forbidden|prohibited|banned|off[- ]limits)|"
    r"you(?: are|'re) not (?:authori[sz]ed|entitled)|you (?:do not|don'?t) have (?:my |our |any )?permission|"
    r"under no (?:circumstances?|conditions?)|in no (?:case|event)|on no account|at all costs|"
    r"(?:is|are) mandatory|ask (?:me |us )?(?:first|before)|"
    r"(?:confirm|check|clear it|agree) (?:\w+ )?with (?:me|us)|until (?:i|we) (?:say|confirm|approve|tell|agree|sign)|"
    r"(?:until|till) (?:i|we) (?:get back|return|come back|am back|are back|check|review|see)|"
    r"(?:until|till) (?:i|we)(?:'ve| have) (?:said|confirmed|approved|told|agreed|signed|seen|checked)|"
    r"only (?:after|with|if|when|once) (?:i|we|my|our)\b|before \w[^.;]{0,80}\b(?:ask|confirm with|check with|"
    r"tell) (?:me|us)|"
    r"no \w+(?: \w+)? (?:may|must|shall)|no \w+(?: \w+)? without (?:my|our|asking)|nobody (?:may|must|shall)|"
    r"none of (?:\w+ ){1,4}(?:may|must|shall|should|is to|are to)|neither (?:\S+ ){1,8}?(?:may|must|shall|should)|"
    r"nothing (?:may|must|shall|leaves|goes)|at no (?:point|time) (?!was|were|did|had)|at the latest(?=\W*$)|"
    r"hard limit(?: of| is|:)|(?:goes?|go|run) (?:through|past) (?:me|us)|stays? (?:as (?:it|they) (?:is|are)|out of)|"
    r"(?:should not|shouldn'?t|ought not to|oughtn'?t to)(?! (?:have|happen|matter|crash|fail|hang|hurt|cause|affect|"
    r"need|surprise|feel|look|seem|work|cost|take (?:that|this|so|too|very|long|more than)|be (?:so|that|this|too|any|"
    r"happening|an? (?:problem|issue|big|huge|surprise)|hard|difficult|necessary|possible|needed|surprised|long|"
    r"slow|like this|here|there|\w+ing))\b)|"
    r"(?:(?:is|are) not|isn'?t|aren'?t) to be|you(?: are|'re) not to (?!blame)|"
    r"may not (?:exceed|be (?:contact|change|cancel|delet|modif|share|disclos|remov|move|merg|renam|touch|sold|sent|"
    r"given|refund|overwrit|edit|alter|discharg|publish|used)\w*)|"
    r"there (?:must|should|shall|is to|are to|may) be no|"
    rf"(?:needs?|requires?|subject to) (?:my|our|prior|written|explicit) (?:\w+ ){{0,2}}{_LEAVE}|"
    r"(?:are|kindly) (?:asked|requested|required|instructed|advised|supposed) (?:not|never) to|"
    rf"(?:{_WEIGHTY}|better|careful|sure|care|try|remember) (?:not|never) to|(?:you'd|you had) better not|"
    rf"{_WEIGHTY} that (?:(?:\w+ ){{1,3}}{_NOT}|no|nobody|nothing)|see to it|(?:is|are) capped at|"
    r"without (?:asking|telling|consulting) (?:me|us)|read[- ]only (?:for|to) you|"
    r"(?<!system )(?<!disk )(?<!drive )(?<!volume )(?:is|are|stays?|remains?) (?:strictly )?read[- ]only(?=\W*$))\b"
)
# Of these, what binds only where nobody is said to have done so, and what makes "should not" a guess.
DONE_EN = (
    *("ask ", "until ", "till ", "confirm", "check", "without", "careful", "sure", "care ", "try ", "better"),
    "remember",
)
BELIEF_EN = r"\b(?:i|we) (?:believe|think|guess|expect|assume|suppose|read|feel|heard)\b(?!.*\byou\b)"
# What binds in the first person: it is the user's own will.
PLEA_EN = (
    rf"\b(?:(?:i|we) (?:really |absolutely )?(?:do not|don'?t|would not|wouldn'?t) (?:want|wish|like) (?:you|anyone to|"
    r"anybody to|(?!to\b|me\b|us\b)(?:[^\s,;]+ ){1,6}?(?:to (?!me\b|us\b)\w+|\w{2,}ed|sent|made|done|sold|shown|told|"
    r"given|taken|put)\b)|"
    r"(?:i|we)(?:'d| would)? (?:really |much |strongly )?(?:rather|prefer|appreciate|like|love|be (?:glad|happy|"
    rf"grateful))(?: it)?(?: if| that)? (?:you|nobody|no one|they|the \w+) (?:\w+ )?{_NOT}|"
    r"(?:i|we)(?:'d| would|'m|'re| am| are)? (?:\w+ )?(?:want|need|ask|beg|urge|expect|order|instruct|tell|like|asking|"
    r"begging|urging|telling|warn|warning) (?:you|everyone) (?:\w+ )?(?:not|never) to|"
    r"(?:i|we) (?:\w+ )?(?:forbid|prohibit|veto)|(?:i|we) (?:do not|don'?t) want (?:to be \w+|\w+ing)|"
    r"(?:i|we)(?:'d| would) (?:rather|prefer) not (?!say|talk|think|discuss|know|go into)|"
    r"(?:i|we) (?:won'?t|will not|do not|don'?t) (?:allow|permit|tolerate|accept|authori[sz]e|consent to|approve of))\b"
)
# What binds as a command or after a modal verb: at the beginning of its clause.
COMMAND_EN = (
    r"\b(?:never|do not|don'?t|refrain|please not|not (?:on|before|after|during|via|by) [^,.;]{1,40}, please|"
    r"leave (?:\S+ ){1,7}?(?:alone|untouched|unchanged|intact|as[- ]is|"
    r"as (?:it|they) (?:is|are|was|were)|in peace)|keep (?:\S+ ){1,6}?(?:untouched|unchanged|secret|private|"
    r"confidential|anonymous|hidden|intact|off|away from|out of|under|below|within)|keep (?:away|out|off|clear)|"
    r"stay (?:away|out|clear|off|under|below|within)|hands off|steer clear|hold off|(?:stop|quit|cease) \w+ing|"
    rf"(?:ask(?: for)?|get|obtain|seek|request|await|wait for|secure|require|have) (?:[^\s,;]+ ){{0,4}}?{_LEAVE}|"
    r"run (?:it|this|that|them|everything|\S+ \S+) (?:by|past) (?:me|us)|(?:double[- ]check|clear (?:it|this|that|"
    r"everything)|consult) (?:\w+ )?with (?:me|us)|have (?:me|us) (?:approve|confirm|review|sign|check)|"
    r"(?:show|send|give|tell|notify|warn|ping|consult|let) (?:me|us)\b[^.;]{0,60}\bbefore (?:you|it|any|each|every|"
    r"\w+ing|the \w+ (?:goes|is))|(?:treat|consider) [^.;]{1,60}read[- ]only)\b"
)
MUST_EN = (
    r"\b(?:must(?:n'?t)?|shall(?: not)?|(?:have|has) to be|you have to|"
    r"needs? to (?:stay|remain|be (?:kept|preserved|approved|signed|encrypted|at least|at most|under|below|within))|"
    r"(?:you|u) (?:cannot|can'?t|can not|may not|may only|can only))\b"
)
# What binds only in a command or an obligation.
WEAK_EN = (
    r"\b(?:only|always|ensure(?!:)|make (?:absolutely |very |double )?sure|be sure|avoid|exclusively|strictly|"
    r"nothing (?:else|but)|at least|(?:is|are) required|without (?:my|our|asking|approval|permission|confirm\w*|"
    r"\w+ing))\b"
)
# "No emails to customers" bans; what is no such thing ("no idea", "no tests were run") says how it is.
NOTHING_EN = (
    r"\b(?:(?:no|zero) (?=[\"'(\w])|not (?:an?|one) (?:single )?(?:word|cent|penny|peep|dollar|euro|minute|day) "
    r"(?:to|more|less|over|later)\b)[^,;:.!?]{0,80}"
)
NO_NEWS_EN = (
    r"^(?:no|zero) (?:(?:\S+ )?(?:problems?|ideas?|worries|need|one|body|doubts?|wonder|luck|way|thanks?|rush|hurry|"
    r"clues?|reasons?|matter|longer|sooner|sweat|deal|feelings?|comments?|responses?|reply|replies|answers?|news|"
    r"results?|success|signs?|signals?|chance|difference|trouble|point|use|such|good|harm|joke|kidding|offen[cs]e|"
    r"pressure|pain|known|time|money|progress|matches|match|errors?|issues?|warnings?|output|effect|evidence|trace|"
    r"history|questions?|complaints?|objections?|choice|hope|records?|receipt|booking|reservation|access|internet|"
    r"connection|clear|symptoms?|fever|wi-?fi|id)\b|(?:i|we|it|that|this|these|the|he|she|they|you|my|your|there|just|please|"
    r"sorry|but|not|no|and|or|ok|a|an|"
    r"es|hay|tengo|entiendo|what|more than|later than|less than)\b|more\W*$|\S+ ?(?:\S+ )?(?:so far|yet|"
    r"since|for (?:\w+ )?(?:\w+ )?(?:days?|weeks?|hours?|months?|years?))\b|"
    r"(?:other )?(?:changes?|updates?|data|emails?|mails?|messages?|calls?)\W*$)|"
    r"\b(?:i|we|he|she|they|it|(?:is|are)(?! to\b)|was|were|has|have|had|does|did|will|would|can|could|seems?|seemed|"
    r"appears?|came|went|found|left|gave|got|says?|said|works?|exists?|happens?|helps?|happened|so far|yet|anymore)\b|"
    r"\b(?!allowed|permitted|accepted|red\b|need)\w{2,}ed(?=\W*$| (?:in|on|by|at|during|after|since)\b)"
)
FURTHER = r"(?i)\b(?:that|which|who|if|unless|until|without|because|where|while|when|без|если|пока|кроме|котор\w+)\b"
# "Can you please not ...?" asks for it; "can you see it?" asks.
REQUEST_EN = (
    r"^\W*(?:please,? )?(?:(?:can|could|would|will) (?:you|we) (?:please |kindly |maybe |just )+(?=not |never |"
    r"avoid |leave |keep |stop |refrain |make sure |ensure |only |always |ask |hold off|stay )|would you (?:please )?"
    r"mind (?=not ))"
)

PAST_EN = r"\b(?:was|were|had|took|did|been|(?!exceed|need|feed|speed|proceed|embed|indeed|hundred)\w{3,}ed)\b"

_VERBS = (
    "accept add adjust allow answer apply archive ask assign attach avoid await be begin book build buy call cancel "
    "cap change charge check choose clean close commit compare compress consider contact copy count create cut delete "
    "deliver deploy describe do download edit email ensure enter explain export extract fetch fill filter find finish "
    "fix focus follow format generate get give go group handle hide ignore implement import include insert install "
    "keep leave let limit list load log look mail make mark mention merge migrate modify move name notify offer open "
    "operate order output pack paste pay pick place post prefer preserve print publish push put quote read refund "
    "refrain remain rely remove rename replace reply report request reserve respond restart restrict retry return "
    "reuse revert review rewrite run save scan schedule search select sell send set share ship show sign sort speak "
    "spend start state stay stick stop store submit summarise summarize switch take talk tell test touch transfer "
    "translate treat try turn update upgrade upload use verify wait work wrap write back"
)
IMPERATIVE_EN = frozenset(_VERBS.split())
_LEADS = (
    "please pls plz just also again and now kindly absolutely then but so or too however always only never strictly "
    "ok okay note important remember rule first next finally besides actually moreover simply really instead"
)
LEAD_IN = frozenset(_LEADS.split())
_ADVERBIALS = (
    "in on for with during at to from under while as until before after unless whatever whenever when if where by "
    "regarding about of within outside since throughout no"
)
PREPOSITIONS = frozenset(_ADVERBIALS.split())
SELF_EN = r"\b(?:i|we|i'(?:m|ve|d|ll)|we'(?:re|ve|d|ll)|he|she|they|it|there|who|that|which)\b"

OBLIGED_EN = (
    r"\b(?:should|must|shall|ought to|(?:has|have) to|needs? to|(?:is|are) to|supposed to|(?:allowed|permitted) to|"
    r"(?:want|need|ask|expect|"
    r"like) you to|you (?:may|can|will))\b"
)

FIRST_EN = r"\b(?:i|we|i'(?:m|ve|d|ll)|we'(?:re|ve|d|ll))\b"

# Turns of phrase that have a cue and bind nobody.
IDLE_EN = (
    r"\bnever ?mind\b|\b(?:do not|don'?t) (?:worry|bother|hesitate|mention it|know|think|have to|need to|"
    r"understand|get me wrong|mind|care)\b|"
    r"\b(?:that|this) must be (?:the|a|an|it|why|how)\b|\bthere must be (?:some|a |an |any|something|someone)|"
    r"\bmust have (?:been|had|gone|done|got|gotten|made|left|lost|sent|come|taken|seen|cost|forgotten|fallen|broken|"
    r"\w{3,}ed)\b|\bmust be \w+(?= because\b)|"
    r"\bmust be (?:kidding|joking|wrong|mistaken|right|raining|snowing|wondering)\b|"
    r"\b(?:you|he|she|they) must (?:all |both |really |also )?be (?:so |very |really |quite |pretty )?(?:tired|"
    r"exhausted|hungry|thirsty|busy|crazy|mad|new|happy|glad|proud|excited|bored|sick|sleepy|confused|cold|upset|"
    r"angry|frustrated|lost|thinking|looking)\b|\bit must be (?:so |very )?(?:hard|tough|nice|fun|great|awful|"
    r"terrible|lovely|somewhere)\b|"
    r"\bmust be (?:down|broken|dead|stuck|busy|slow|offline)(?=\W*$| again\b| now\b| today\b)|"
    r"\bmust be on (?:her|his|their|its) (?:break|way|phone|lunch|leave|holiday)\b|"
    r"\byou have to (?:understand|admit|love|wonder)\b|"
    r"\byou must (?:know (?:her|him|them|how|what)|feel|love|hate)\b|\b(?:i|we|you) must (?:say|admit|confess)\b|"
    r"\b(?:not only|if only|only just|the only|have only|has only|had only|was only|were only)\b|"
    r"\b(?:used to always|as always|at most times)\b|\bkeep (?:in mind|an eye)\b"
)
# One of these stands in every text that has a cue of that kind: looked for first, at a twentieth of the price.
STEMS_EN = {
    "plea": (
        *("n't", "dont", "not ", "never", "rather", "prefer", "appreciat", "forbid", "prohibit", "veto", "won't"),
        "wont",
    ),
    "strong": (
        *("forbid", "prohibit", "banned", "permi", "allow", "off-limits", "off limits", "under no", "in no "),
        *("no account", "at all costs", "mandatory", "ask ", "with me", "with us", "until i", "until we", "only "),
        *("tell me", "tell us", "must", "shall", "may ", "nothing", "should", "ought", "not to ", "n't to "),
        *("isnt to", "arent to", "never to ", "authori", "entitled", "better not", "important", "essential"),
        *("crucial", "critical", "vital", "imperative", "capped", "see to it", "read-only", "read only", "without "),
        *("approv", "consent", "confirm", "go-ahead", "go ahead", "sign-off", "sign off", "signoff", "green light"),
        *("blessing", "clearance", "till i", "till we", "none of", "neither ", "at no ", "latest", "hard limit"),
        *("through me", "through us", "past me", "past us", "stay"),
    ),
    "command": (
        *("never", "do not", "don't", "dont", "refrain", "please not", ", please", "leave ", "keep ", "stay "),
        *("hands off", "stop ", "steer ", "hold off", "quit ", "cease ", " approv", "permission", "consent"),
        *("confirm", "go-ahead", "go ahead", "sign-off", "sign off", "signoff", "green light", "blessing"),
        *("clearance", "authori", " ok", "by me", "by us", "past me", "past us", "with me", "with us", " me "),
        *(" us ", "read-only", "read only"),
    ),
    "must": ("must", "shall", "to be", "you have to", "need to", "needs to", "you can", "you may", "u can"),
    "nothing": ("no ", "zero ", "not a ", "not one "),
    "weak": (
        *("only", "always", "ensure", "sure", "avoid", "exclusively", "strictly", "nothing", "at least", "required"),
        "without",
    ),
    "limit": ("no more", "at most", "no later", "not more", "exceed", "budget", "nothing ", "max", "cap "),
}
