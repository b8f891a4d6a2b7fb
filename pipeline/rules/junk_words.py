"""Sentences that are no memory, as whole sentences: what assistants, schedulers and greetings say.

Each pattern must match a sentence from its beginning to its end. A sentence with anything else in it, a
name or a number that the pattern does not foresee, is left alone.
"""

from __future__ import annotations

import re

from ...models.word_tables import table_lines
from ...models.words import exact_key

_END = r"[\s.!?…~:)\U0001F300-\U0001FAFF\u2600-\u27BF]*"
_WHO = r"(?:the\s+)?(?:user|assistant|agent|ai|bot|model)"
_MOMENT = r"(?:\d{4}-\d\d-\d\d)?[ t,]*(?:\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?)?\s*(?:am|pm|z|utc|gmt|[a-z]{3,4}|[+-]\d\d:?\d\d)?"
_NOTHING = (
    r"(?:nothing|no (?:new |unread |urgent |pending |other )?(?:messages?|e-?mails?|mails?|alerts?|updates?|changes?|"
    r"tasks?|events?|notifications?|items?|issues?|errors?|action|activity|work|news))"
)
_QUIET = (
    rf"(?:{_NOTHING}(?: (?:to report|to do|new|found|detected|needed|required|pending|since (?:the )?last "
    r"(?:check|run|heartbeat|poll)|at this time|today|yet|so far|in the inbox))*"
    r"|all (?:is )?(?:clear|good|quiet|well|ok|okay|green|systems? (?:are )?(?:nominal|normal|operational|ok|go|green))"
    r"|everything (?:is )?(?:fine|ok|okay|normal|nominal|quiet|up to date)|ok|okay|alive|idle|nominal|healthy|passed"
    r"|success(?:ful(?:ly)?)?|completed?(?: successfully)?|finished(?: successfully)?|done|skipped"
    r"|(?:ran|executed|run|fired|triggered) (?:successfully|as scheduled|on schedule|without (?:errors|issues)))"
)


def _whole(*sentences: str) -> re.Pattern[str]:
    """A pattern of whole sentences; a space stands for any white space, in a class of characters for itself."""
    spaced = {" ": r"\s+", " ?": r"\s*"}
    parts = (re.sub(r"\[[^\]]*\]| \?| ", lambda at: spaced.get(at[0], at[0]), each) for each in sentences)
    return re.compile(rf"(?:{'|'.join(parts)}){_END}", re.IGNORECASE)


GREETINGS = _whole(
    r"(?:hi|hello|hey|hiya|howdy|greetings|yo)(?:[, ]+(?:there|again|all|everyone|assistant|claude|chatgpt|bot))?",
    r"good (?:morning|afternoon|evening|night|day)(?:[, ]+(?:there|again|all|everyone))?",
    r"(?:ok(?:ay)?[, ]+)?(?:thanks|thank you|thx|ty|cheers)(?:[, ]+(?:so much|very much|a lot|again|a bunch|for (?:your|the) help))*",
    r"you(?:'|’)?re welcome|you are welcome|my pleasure|no problem|no worries|don(?:'|’)?t mention it",
    r"(?:bye|goodbye|good ?bye|see you(?: (?:later|soon|tomorrow))?|take care|talk (?:to you )?(?:later|soon)|have a (?:nice|good|great) (?:day|evening|weekend|one))",
    r"(?:ok|okay|k|certainly|of course|absolutely|yes|no|yep|yeah|nope|sure|cool|nice|great|perfect|awesome|got it|understood|alright|right|hmm+|lol|test|testing|ping|pong)",
    r"how are you(?: (?:doing|today))*|what(?:'|’)?s up|nice to (?:meet|see|hear from) you",
    rf"{_WHO} (?:said|says|replied|responded|answered)(?: with)?:? [\"'“]?(?:hi|hello|hey|thanks|thank you|bye|goodbye|ok|okay|yes|no|good (?:morning|evening|night))[\"'”]?",
    rf"{_WHO} (?:greeted|thanked|greets|thanks|said (?:hi|hello|hey|thanks|thank you|goodbye|bye) to|says (?:hi|hello|hey|thanks|goodbye|bye) to) {_WHO}(?: (?:for|back|again|warmly|politely)(?: (?:the|its|their|his|her|your) (?:help|assistance|reply|answer))?)*",
    rf"{_WHO} (?:sent|used|started with|opened with) a greeting|the conversation (?:began|started|opened|ended) with a (?:greeting|farewell|thank you)",
)
"""Greetings, thanks, acknowledgements, and reports of a greeting."""

CHATTER = _whole(
    r"(?:sure|certainly|of course|absolutely|great|okay|ok|alright|no problem)[,!. ]+(?:i can help(?: you)?(?: with that)?|i(?:'|’)?d be happy to help(?: you)?(?: with that)?|happy to help|let me (?:help|check|look|see)(?: (?:that|it|this|you|into (?:that|it|this)))*(?: for you)?|here(?:'|’)?s (?:what i found|the (?:answer|result|information|summary)))",
    r"(?:i(?:'|’)?m|i am|i(?:'|’)?d be|i would be|always) (?:here|happy|glad|ready|delighted) to (?:help|assist)(?: you)?(?: (?:with (?:that|this|anything)|today|further|anytime))*",
    r"(?:how|what) (?:can|may|could) i (?:help|assist|do for)(?: you)?(?: (?:with|today|further|now|next))*",
    r"(?:is there )?anything else (?:i can (?:help|assist|do)|you(?:'|’)?d like|you need)(?: (?:you|with|for you|to know|today|me to do|help with))*",
    r"(?:please |just |feel free to )?(?:let me know|reach out|ask)(?: me)? if (?:you(?:'|’)?d like|you (?:need|want|have)|there(?:'|’)?s|i can)(?: (?:me|to|anything|any|further|more|other|else|help|assistance|questions?|details?|information|changes?|adjust(?:ments)?|clarification|assist|with|you|this|that|or))*",
    r"(?:i )?hope (?:this|that|it) helps(?: you)?|does (?:this|that) (?:help|answer your question|make sense)",
    r"(?:i(?:'|’)?m|i am) (?:so |very |really )?sorry(?:[, ]+(?:but )?(?:i (?:can(?:'|’)?t|cannot|can not|am unable to|am not able to) (?:help|assist|do|access|answer|comply)(?: (?:with|you|that|this|to|it))*|for (?:the|any) (?:confusion|inconvenience|mistake|error|misunderstanding|delay)))?",
    r"(?:i )?apologi[sz]e for (?:the|any) (?:confusion|inconvenience|mistake|error|misunderstanding|delay)",
    r"here(?:'|’)?s (?:what i found|the (?:answer|result|information|summary)|a (?:quick )?(?:summary|overview))",
    r"(?:great|good|excellent|interesting) question",
    r"as an? (?:ai|artificial intelligence)(?: language)?(?: model| assistant)?[, ]+i (?:do not|don(?:'|’)?t|cannot|can(?:'|’)?t|am not able to|am unable to)\b[^.]{0,80}",
    r"i(?:'|’)?m (?:just )?an? (?:ai|large)(?: language)? (?:assistant|model)(?:[, ]+(?:and|so|but) i (?:do not|don(?:'|’)?t|cannot|can(?:'|’)?t)\b[^.]{0,80})?",
    r"i do(?:n(?:'|’)?t| not) have (?:access to|the ability to (?:access|browse|remember|recall)|any (?:memory|record) of|real-?time)\b[^.]{0,60}",
    r"let me (?:think|check|see|look)(?: (?:about|into|at|it|that|this))*(?: for (?:you|a moment|a second))?|one moment(?: please)?|working on it|processing(?: your request)?",
    r"(?:the )?(?:assistant|agent|ai|bot|model) (?:offered (?:to help|its help|(?:further )?assistance)|asked (?:how it (?:can|could) help|if (?:the )?user needs? (?:anything else|help|further (?:help|assistance)))|acknowledged (?:the (?:request|message|user)|this)|apologi[sz]ed(?: for the (?:confusion|error|mistake|delay))?|responded|replied|confirmed (?:the request|this)|is (?:here|ready|happy) to (?:help|assist)(?: the user)?)",
    r"(?:the )?user (?:is (?:chatting|talking|interacting|having a conversation|communicating|speaking) (?:with|to) (?:an? |the )?(?:ai |virtual )?(?:assistant|ai|bot|model|chatbot|agent)|asked (?:a question|for help|for assistance|something|the assistant a question)|sent a message|wants (?:help|assistance|an answer)|has a question|started (?:a|the|a new) (?:conversation|chat|session))",
    r"no (?:relevant |new |personal |important )*(?:facts?|information|memor(?:y|ies)|preferences?|details?)(?: or preferences)? (?:(?:was|were|is|are|to be) )?(?:found|extracted|mentioned|shared|provided|to (?:extract|store|remember|save))(?: (?:in|from) (?:this|the) (?:conversation|message|text|input))?",
)
"""What assistants say around an answer, and an extractor's report that it found nothing."""

PROMPTS = re.compile(
    r"\A\W*(?:"
    r"you are (?:an?|the) (?:[\w-]+ ){0,4}?(?:assistant|language model|chatbot|organi[sz]er|ai agent|ai model|expert system)\b"
    r"|you are (?:chatgpt|claude|gemini|copilot|grok|llama)\b"
    r"|(?:the )?assistant is (?:chatgpt|claude|gemini|copilot|grok|an? (?:ai|large) (?:language )?model)\b"
    r"|knowledge cut-?off\s*:"
    r"|your (?:task|role|job|goal) is to (?:extract|help the user|assist the user|answer|respond|generate|summari[sz]e)\b"
    r"|(?:following|below) is a conversation between\b"
    r"|return the (?:facts|memories|result|response|output)\b.{0,60}\bjson\b"
    r"|(?:always |only )?respond (?:only )?(?:with|in) (?:valid )?json\b"
    r"|<(?:system|instructions?|identity|persona|rules)>"
    r"|(?:##? )?(?:IDENTITY|SOUL|AGENTS|BOOTSTRAP|HEARTBEAT|TOOLS|USER)\.md\b\s*(?:[-:—]|\n)"
    r"|read (?:HEARTBEAT|SOUL|IDENTITY|AGENTS|USER|BOOTSTRAP)\.md\b"
    r")",
    re.IGNORECASE,
)
"""How the instructions of an assistant begin; what names them ("System prompt: ...") is a rule that a person noted."""

HEARTBEATS = _whole(
    r"\[?heartbeat[_ -]?(?:ok|ack|alive|ping)?\]?",
    r"no_?reply|\[?silent(?: reply)?\]?",
    rf"\[?(?:heartbeat|health ?check|status ?check|keep-?alive|liveness|ping|poll(?:ing)?|watchdog)\]?(?: (?:check|probe|tick|event|received|sent|poll|run|ping))*(?: (?:at|on|#?\d+))*[ :,-]*{_MOMENT}[ :,;—–-]*(?:{_QUIET}[ ,;—–-]*)*",
    rf"\[?(?:cron|cronjob|scheduled (?:job|task|run)|nightly job)\]?[ :-]*(?:(?:job|task|run) )?(?:[\"'`]?[\w.:/-]+[\"'`]? )?(?:(?:ran|run|executed|fired|triggered|started|completed|finished)(?: (?:at|on))?[ :]*)?{_MOMENT}[ :,;—–-]*{_QUIET}(?:[ ,;—–-]+(?:and )?{_QUIET})*",
    rf"(?:the )?(?:agent|assistant|system|bot) (?:is (?:idle|alive|running|online|waiting)|performed a (?:heartbeat|routine|health|status) check|checked (?:the )?(?:inbox|e-?mail|mail|calendar|queue|status))(?: at {_MOMENT})?(?:[ ,;:—–-]+(?:and |with )?(?:found )?{_QUIET})*",
    rf"(?:checked|polled)(?: the)? (?:inbox|e-?mail|mail|calendar|queue|feeds?)(?: at {_MOMENT})?[ ,;:—–-]+(?:and |with )?(?:found )?{_QUIET}",
    rf"(?:the )?(?:current|present|system|local) (?:date and time|time|date|timestamp) (?:is|was|:) ?:? ?{_MOMENT}",
    rf"(?:the )?(?:session|conversation|container|process|gateway|agent) (?:was )?(?:started|restarted|resumed|ended|initiali[sz]ed|booted|began)(?: (?:at|on))?[ :]*{_MOMENT}",
    rf"{_NOTHING} (?:to report|since (?:the )?last (?:check|run|heartbeat|poll))",
)
"""Signs of life and reports of nothing; a job that failed, or did something, is left alone."""

RECALLED = re.compile(
    r"\A\W*(?:"
    r"<(?:relevant|recalled|retrieved)[-_ ]?memor(?:y|ies)>"
    r"|(?:relevant|recalled|retrieved|stored|existing|injected) memor(?:y|ies)(?: \w+){0,3}\s*:"
    r"|(?:the )?(?:user|assistant|agent)(?:'s)? (?:has|have) (?:a |an |the |some )?(?:stored |saved |existing |previous )?memor(?:y|ies) (?:stating|saying|indicating|that|which|about how)\b"
    r"|(?:according to|based on|as (?:noted|stated|stored|recorded) in) (?:the |my |its |your |our )?(?:stored |saved |recalled |retrieved |existing |previous )?memor(?:y|ies)[ ,:]"
    r"|(?:the )?(?:memory|memories) (?:was|were) (?:recalled|retrieved|injected|stored|updated|saved)\b"
    r")",
    re.IGNORECASE,
)
"""How a text begins that quotes the memory itself."""

PROMPT_EXAMPLES = frozenset(map(exact_key, table_lines("examples", "mem0")))
"""Answers in the examples of mem0's extraction prompts (mem0ai 2.2.1), which small models store as facts."""
