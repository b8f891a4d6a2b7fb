"""Names of people, places, products and organisations: capitalised words, and known tools in lower case.

A capital opens a sentence too: there a word is a name only if it is not everyday vocabulary, and it counts as
weak. Diacritics, case, plural and possessive endings do not tell names apart; short forms that everyone knows
("k8s", "Postgres", "NYC") agree with the long ones. Nobody's gender, country or role is inferred.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from .detail import Detail
from .tokens import Page, Word, words
from .words import common

_NEVER = frozenset(
    "i i'm i've i'd i'll user users assistant agent ai she he they we you it the a an and or but mr mrs ms dr prof ok todo note fyi api url id "
    "no not yes am pm utc cet est pst gmt kb mb gb tb eur usd gbp chf please phd msc bsc ba ma mba qa cv tv pc faq eod eta "
    "asap aka etc vs ie eg pr mr ci cd ui ux db os it hr pm ceo cto cfo readme true false null none yyyy mm dd hh doesn't don't isn't can't won't hasn't didn't aren't wasn't couldn't wouldn't shouldn't haven't".split()
)
_GENERIC = frozenset(
    "ram cpu gpu ssd hdd nas ups dns vpn ssh ssl tls mtls http https json yaml csv xml pdf sdk cli ttl dag iso usb hdmi led gps va mot sla slo rto rpo "
    "crud orm mvp poc rfc adr kpi okr roi nda gdpr ner llm nlp ml f1 eu uk us".split()
)
_TITLES = frozenset(
    "uncle aunt auntie grandma grandpa granny nana mum mom dad mother father brother sister cousin professor doctor sir madam lady captain "
    "saint st university school college company team manager engineer staff senior junior lead street avenue road square department "
    "section phase quarter tier level plan class season room floor gate block seat row line group club church hospital office "
    "january february march april june july august september october november december monday tuesday wednesday thursday friday "
    "saturday sunday spring summer autumn winter morning evening night".split()
)
_VERB_FOLLOWERS = frozenset(
    "a an the to for from in on at with by of all no not only about every each her his their my your its this that these those any some "
    "two three four five".split()
)
_COMMON_ENDINGS = ("ing", "ional", "ical", "able", "ible", "tion", "sion", "ment", "ness", "ful", "less", "ous", "ive", "ising", "izing", "ally")
_SHORTEST_TYPO = 7
_TOOLS = frozenset(
    "python rust golang java javascript typescript kotlin swift scala haskell elixir ruby perl php julia fortran cobol zig clojure ocaml "
    "postgres postgresql mysql mariadb sqlite mongodb redis kafka rabbitmq elasticsearch clickhouse duckdb snowflake bigquery cassandra dynamodb "
    "docker podman kubernetes k8s helm terraform ansible jenkins gitlab github bitbucket circleci argocd nginx apache caddy traefik envoy "
    "react vue angular svelte django flask fastapi rails laravel spring nextjs nuxt remix htmx tailwind webpack vite rollup esbuild "
    "numpy pandas polars pytorch tensorflow keras jax sklearn huggingface spark airflow dagster prefect dbt ray dask "
    "pytest unittest jest vitest mocha cypress playwright selenium eslint prettier ruff black flake8 mypy pyright pylint "
    "pipenv conda npm yarn pnpm bun deno gradle maven bazel cmake vim neovim nvim emacs vscode pycharm intellij "
    "linux windows macos ubuntu debian fedora arch alpine android ios aws gcp azure heroku vercel netlify cloudflare fly.io "
    "slack discord teams zoom jira linear notion confluence asana trello figma sketch penpot framer stripe paypal twilio sentry datadog grafana "
    "prometheus loki splunk graphql grpc rest oauth saml jwt chrome firefox safari netflix spotify whatsapp telegram signal instagram facebook "
    "twitter linkedin gmail outlook".split()
) - {"arch", "black", "linear", "notion", "sketch", "signal", "spring", "ray", "rest", "remix", "black", "swift", "prefect", "teams", "zoom", "windows",
     "envoy", "alpine", "helm", "apache", "slack", "spark", "cypress", "bun", "stripe", "sentry", "framer", "react", "rust", "julia", "rails"}
_ALIASES = (
    "kubernetes k8s kube",
    "oidc openid",
    "jdk jvm java",
    "argocd argo",
    "shabbat shabbos sabbath",
    "arizona az",
    "california ca",
    "texas tx",
    "postgresql postgres pg",
    "javascript js ecmascript",
    "typescript ts",
    "python py python3",
    "golang go",
    "neovim nvim",
    "vscode vsc",
    "github gh",
    "mongodb mongo",
    "elasticsearch elastic es",
    "terraform tf",
    "amazon aws",
    "macos osx mac macbook",
    "iac infrastructure",
    "facebook fb",
    "instagram ig insta",
    "whatsapp wa",
    "christmas xmas",
    "usa us america american",
    "uk britain british england english",
    "eu europe european",
    "nyc york",
    "sf francisco",
    "la angeles",
    "dc washington",
    "uw washington",
    "deepl",
    "french france",
    "german germany deutsch deutschland",
    "spanish spain",
    "italian italy",
    "dutch netherlands holland",
    "polish poland",
    "swedish sweden swede",
    "danish denmark dane",
    "finnish finland",
    "portuguese portugal",
    "greek greece",
    "turkish turkey turkiye",
    "irish ireland",
    "welsh wales",
    "scottish scotland scots",
    "swiss switzerland",
    "czech czechia",
    "hungarian hungary",
    "chinese china mandarin",
    "farsi persian",
    "norwegian norway",
)
_ALIAS_GROUPS: dict[str, int] = {word: number for number, line in enumerate(_ALIASES) for word in line.split()}
_DERIVED = ("sql", "s", "n", "an", "ian", "ean", "ese", "ish", "er", "ers", "i", "js", "db", "ic")
_SHORTEST_ROOT = 4


@dataclass(frozen=True, slots=True)
class Name(Detail):
    """One word of a name, with the whole name it stands in.

    Attributes:
        folded: Lower case, without diacritics.
        phrase: All folded words of the name, in order: ("san", "francisco").
        strong: Capitalised inside a sentence, inner capitals, or a known tool; not just a capital at its start.
        opens: The name begins a sentence, so it may be its subject.
        before: The folded word before the whole name.
        after: The folded word behind the whole name.
    """

    kind: ClassVar[str] = "name"
    folded: str = ""
    phrase: tuple[str, ...] = ()
    strong: bool = True
    opens: bool = False
    before: str = ""
    after: str = ""

    def agrees(self, other: Detail) -> bool:
        """Whether both are the same word or a known short form of it."""
        return isinstance(other, Name) and same_name(self.folded, other.folded)

    def rivals(self, other: Detail) -> bool:
        """Whether both could name the same thing: no shared word, or a shared one in the same place.

        "Skoda Octavia" and "Octavia Combi" may be one car; "Anna Nowak" and "Ben Nowak" are two people.
        """
        if not isinstance(other, Name):
            return False
        if not (self.strong and other.strong) and not self._same_place(other):
            return False
        shared = set(self.phrase) & set(other.phrase)
        if not shared:
            return True
        mine, theirs = self.phrase, other.phrase
        return any(mine[i] == theirs[i] or mine[-1 - i] == theirs[-1 - i] for i in range(min(len(mine), len(theirs))))


    def _same_place(self, other: Name) -> bool:
        return (self.opens and other.opens) or (self.before != "" and self.before == other.before) or (self.after != "" and self.after == other.after)


@lru_cache(maxsize=65536)
def same_name(left: str, right: str) -> bool:
    """Whether two folded words name the same thing.

    >>> same_name("postgres", "postgresql"), same_name("java", "javascript"), same_name("k8s", "kubernetes")
    (True, False, True)
    """
    if left == right:
        return True
    group = _ALIAS_GROUPS.get(left)
    if group is not None and group == _ALIAS_GROUPS.get(right):
        return True
    if len(left) == len(right) >= _SHORTEST_TYPO and sorted(left) == sorted(right):
        return True
    short, long = sorted((left, right), key=len)
    if len(short) < _SHORTEST_ROOT:
        return long == short + "s"
    return long.startswith(short) and long[len(short) :] in _DERIVED


def names(page: Page, spelled: tuple[Word, ...]) -> tuple[Name, ...]:
    """Read the names of a text, word by word; words that others have taken are not names.

    >>> page = Page("Łukasz moved to San Francisco.")
    >>> [name.phrase for name in names(page, tuple(words(page.text)))]
    [('lukasz',), ('san', 'francisco'), ('san', 'francisco')]
    """
    shouting = sum(word.text.isupper() for word in spelled) > len(spelled) / 2 and len(spelled) > 2
    lower = {word.folded for word in spelled if word.text.islower()}
    runs: list[list[Word]] = []
    last: Word | None = None
    for place, word in enumerate(spelled):
        if page.rest[word.start : word.end] != page.text[word.start : word.end]:
            last = None
            continue
        if not _is_name(word, lower, shouting=shouting) or _is_verb(word, place, spelled):
            last = None
            continue
        joined = last is not None and page.text[last.end : word.start] in {" ", "-", " & ", "."} and not last.text.endswith("'s")
        if joined:
            runs[-1].append(word)
        else:
            runs.append([word])
        last = word
    places = {word.start: number for number, word in enumerate(spelled)}
    return tuple(name for run in runs for name in _named(run, spelled, places[run[0].start]))


def _is_verb(word: Word, place: int, spelled: tuple[Word, ...]) -> bool:
    """Whether a word that opens a sentence is more likely its verb: "Boycotts the shop", not "Thomas lives"."""
    if not word.opens or _marked(word) or not word.folded.endswith("s") or place + 1 >= len(spelled):
        return False
    following = spelled[place + 1]
    return following.folded in _VERB_FOLLOWERS or following.text[:1].isupper()


def _named(run: list[Word], spelled: tuple[Word, ...], place: int) -> list[Name]:
    """Make one name per word of a run that starts at a place among the words."""
    phrase = tuple(word.folded for word in run)
    before = spelled[place - 1].folded if place and not run[0].opens else ""
    end = place + len(run)
    after = spelled[end].folded if end < len(spelled) and not spelled[end].opens else ""
    return [
        Name(word.text, word.folded, phrase, _strong(word, run), run[0].opens, before, after)
        for word in run
    ]


def _strong(word: Word, run: list[Word]) -> bool:
    """Whether a word is surely a name, and not a technical term that happens to be an acronym."""
    return word.folded not in _GENERIC and (len(run) > 1 or not word.opens or _marked(word))


def _marked(word: Word) -> bool:
    """Whether a word shows that it is a name by its own letters."""
    text = word.text.removesuffix("'s")
    return word.folded in _TOOLS or word.text.endswith("'s") or (len(text) > 1 and (text != text.capitalize() or not text.isascii()))


def _is_name(word: Word, lower: set[str], *, shouting: bool) -> bool:
    """Whether a word is (part of) a name."""
    if word.folded in _NEVER or word.folded in _TITLES or word.text[0].isdigit():
        return False
    if word.folded in _TOOLS:
        return True
    if not word.text[0].isupper() and not any(char.isupper() for char in word.text[1:]):
        return False
    if len(word.folded) == 1:
        return False
    if word.opens or shouting:
        return not common(word.folded) and word.folded not in lower and not word.folded.endswith(_COMMON_ENDINGS)
    return True
