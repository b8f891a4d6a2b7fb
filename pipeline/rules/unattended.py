"""What age alone never removes while nobody looks on, and what it does not even propose.

Age says that a fact is old, not that it is gone. Where no read of a scope is on record, "nobody read
it lately" is an assumption; and a fact about health, identity, family, law or safety may be needed once
in ten years. The lists below lean towards keeping: a needless match costs a line in a store, a missed
one may cost more. A person is shown all of it all the same, and decides; unless age alone would take a
large part of a scope, of which nothing says that it is not read: then it is no sign of disuse, but of a
store that has lived for a while.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ...models.words import tokens
from ...records import Memory, Scope

UNTRACKED = (
    "Past their age, but kept: {count}. Nothing says what the agent reads in their scope; wrap its client "
    "with track_access, or add --assume-unread to remove them."
)
CROWD = (
    "{count} memories past their age are not proposed: they are a large part of what is stored, and nothing "
    "says what the agent reads. Wrap its client with track_access, or see them with --forget-only."
)
PROTECTED = (
    "Past their age, but kept: {count}. They may be about health, identity, family, law or safety, which "
    "only a person removes."
)

_HEALTH = """
    allerg* anaphyla* epipen* asthma* inhaler* diabet* insulin* penicillin* antibiotic* epilep* seizure*
    migraine* cancer* tumo?r* chemo* dementia alzheimer* parkinson* stroke* heart cardiac pacemaker* blood
    bleed* haemo* hemo* hiv hepatitis thyroid kidney* liver lung* celiac coeliac crohn* colitis ibs gluten
    lactose intoleran* vegan* vegetarian* halal kosher anemi* anaemi* arthritis autis* adhd dyslexi*
    dyspraxi* bipolar depress* anxiety anxious ptsd schizo* psychiat* psycholog* therap* counsel?ing addict*
    alcoholi* sober sobriety relapse* rehab* overdos* naloxone medic* medication* medicine* meds pill* dose*
    dosage* prescri* pharmac* warfarin ibuprofen aspirin statin* vaccin* immuni* surg* operation hospital*
    clinic* doctor* physician* gp dentist* nurse* specialist diagnos* symptom* illness* disease* disorder*
    syndrome* condition chronic terminal palliative hospice injur* fractur* concuss* pain* disab*
    wheelchair* prosthe* deaf* hearing blind* colou?rblind colou?r-blind eyesight glasses vision
    contact_lens* pregnan* miscarr* abort* ivf fertil* contracept* midwi* due_date breastfe* menopaus*
    organ_donor donor* transplant* dialysis health* mental* physical_therap* special_needs care_plan weight
    bmi cholesterol sleep_apn* cpap insomnia sick sickle covid tubercul* infect* immune immunocomp*
    transfusion* stent* implant* catheter* sectioned stitches ulcer* hernia* thrombo* embol* mg mcg nut nuts
    peanut* shellfish cannot_eat can't_eat swell* units_of eating_disorder anorex* bulimi* stutter* tinnitus
    gout eczema psorias* rash hives alerg* penicilin* astma* asma zucker* krank* arzt* medikament* enferm*
    medicament* maladie* sante salud gesund*
"""
_IDENTITY = """
    name* named called nickname* alias goes_by pronoun* she/her he/him they/them gender* transgender trans
    nonbinary non_binary queer gay lesbian bisexual lgbt* born birth* birthday* date_of_birth dob age aged
    years_old year_old nationalit* citizen* passport* id_card id_number identity ident* ssn social_security
    national_insurance driver_license driving_licen* licen[cs]e* tax_id taxpayer fingerprint* religio*
    christian* muslim* islam* jewish witness* mormon* baptis* quaker* judaism hindu* sikh* buddhis*
    catholic* protestant* orthodox atheis* ethnic* native_language mother_tongue first_language
    native_speaker speaks immigrant* refugee* veteran* address lives_at lives_in resident* postcode zip_code
    phone_number telephone mobile_number email iban account_number bank_account personal_details maiden
    deadname* legal_name nombre nom prenom vorname nachname
"""
_FAMILY = """
    family* famil* wife wives husband* spouse* partner* fiance* engaged married marri* wedding* divorc*
    separated widow* bereave* died dies dead death* deceased passed_away funeral* mourn* late_father
    late_mother girlfriend* boyfriend* ex_wife ex_husband son sons daughter* child* children kid kids baby
    babies infant* toddler* teenage* newborn* mother* mum mums mummy mom moms mommy mama father* dad dads
    daddy papa parent* grandparent* grandmother* grandfather* grandma* grandpa* granny grandson*
    granddaughter* grandchild* brother* sister* sibling* twin twins triplet* aunt* auntie* uncle* niece*
    nephew* cousin* relative* next_of_kin stepson* stepdaughter* stepmother* stepfather* stepchild* stepmum
    stepdad step_son step_daughter in_law mother_in_law adopt* foster* godmother* godfather* godson*
    goddaughter* godchild* orphan* caregiver* carer* nanny nannies babysit* daycare kindergarten nursery
    school_run anniversar* custody esposa* esposo* marido* hijo* hija* madre* padre* hermano* hermana* frau
    ehefrau ehemann mutter vater sohn tochter bruder schwester mere pere fils fille femme mari frere soeur
    enfant*
"""
_LEGAL = """
    law laws lawful* unlawful* legal* illegal* lawyer* attorney* solicitor* barrister* court* judge*
    lawsuit* sue sued suing litigat* trial* verdict* settlement* probation parole* convict* criminal* felony
    arrest* jail* prison* warrant* police subpoena* restraining_order injunction* custody alimony
    child_support guardian* power_of_attorney last_will testament* inherit* estate* executor* trust_fund
    beneficiar* visa visas residence_permit work_permit green_card immigrat* asylum deport* citizenship
    contract* contractual nda nondisclosure non_disclosure noncompete non_compete intellectual_property
    patent* trademark* copyright* licens* gdpr hipaa ccpa compliance* complian* regulat* consent* privacy
    confidential* tax taxes bankrupt* debt* mortgage* loan* pension* insur* liabilit* liable audit*
    sanction* whistleblow* tenan* lease evict* deadline* statute* obligat* must_not may_not prohibited
    forbidden embargo* oath notar*
"""
_SAFETY = """
    safe* unsafe emergenc* danger* hazard* risk* warn* caution* toxic* poison* venom* lethal fatal* deadly
    flammable explosi* fire fires evacuat* alarm* smoke carbon_monoxide gas_leak high_voltage electrocut*
    lockout* tagout suicid* self_harm selfharm abus* stalk* harass* violen* assault* threat* weapon* gun
    guns firearm* knife kidnap* traffick* victim* survivor* crisis panic_button safe_word safeword
    do_not_resuscitate dnr never always must do_not don't dont under_no_circumstances critical allergen*
    choking drown* swim* floats seat_belt helmet* child_lock recall* breach* password* credential* secret*
    api_key private_key
"""


def _pattern(*blocks: str) -> re.Pattern[str]:
    """A word ends where it is written to end, unless a star lets it go on; `_` joins words of a phrase."""
    words = sorted({word for block in blocks for word in block.split()})
    parts = [word.replace("*", r"\S*").replace("_", " ").replace("/", " ") for word in words]
    return re.compile(rf"(?<= )(?:{'|'.join(parts)})(?= )")


_PROTECTED = _pattern(_HEALTH, _IDENTITY, _FAMILY, _LEGAL, _SAFETY)
_DOSE = re.compile(r"\d\s*(?:mg|mcg|µg|ml|iu)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Spared:
    """Memories whose age is no reason.

    Attributes:
        untracked: Ids in scopes of which no read is on record, while nobody looks on.
        protected: Ids of facts that only a person removes.
        crowd: Ids past their age of which there are too many to say anything, for a person.
    """

    untracked: frozenset[str] = frozenset()
    protected: frozenset[str] = frozenset()
    crowd: frozenset[str] = frozenset()

    @property
    def ids(self) -> frozenset[str]:
        """All of them."""
        return self.untracked | self.protected | self.crowd

    def notes(self, stale: Iterable[str]) -> tuple[str, ...]:
        """One sentence for each reason that kept something, of the ids that are past their age."""
        old = frozenset(stale)
        protected = old & self.protected - self.untracked
        counted = (
            (UNTRACKED, len(old & self.untracked)),
            (PROTECTED, len(protected)),
            (CROWD, len(old & self.crowd)),
        )
        return tuple(sentence.format(count=count) for sentence, count in counted if count)


def summed(notes: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """The notes of several plans as those of one: equal sentences with their counts added up."""
    every = [note for part in notes for note in part]
    counted: list[str] = []
    for sentence in (UNTRACKED, PROTECTED, CROWD):
        before, _, after = sentence.partition("{count}")
        same = [note for note in every if note.startswith(before) and note.endswith(after)]
        counts = [int(note[len(before) : len(note) - len(after)]) for note in same]
        counted += [sentence.format(count=sum(counts))] if counts else []
        every = [note for note in every if note not in same]
    return (*counted, *dict.fromkeys(every))


def spared(memories: Sequence[Memory], *, tracked: frozenset[str], assume_unread: bool) -> Spared:
    """What an unattended run keeps however old it is.

    Args:
        memories: The living memories of all scopes in question.
        tracked: Ids that the agent's own client is known to have read.
        assume_unread: Take what is not on record as unread, as the original skill does.
    """
    read = _read_scopes(memories, tracked)
    untracked = () if assume_unread else (m.id for m in memories if m.scope not in read)
    return Spared(frozenset(untracked), frozenset(m.id for m in memories if is_protected(m)))


def crowded(
    memories: Sequence[Memory],
    old: Collection[str],
    *,
    tracked: frozenset[str],
    max_share: float,
    min_count: int,
) -> Spared:
    """What a person is not asked about either: old memories of which there are too many.

    Args:
        memories: The living memories of all scopes in question.
        old: Ids of those past their age.
        tracked: Ids that the agent's own client is known to have read.
        max_share: Largest share of a scope that age alone may propose to remove, 0 to 1.
        min_count: So few are always proposed.
    """
    read = _read_scopes(memories, tracked)
    of_scope: dict[Scope, list[str]] = defaultdict(list)
    for memory in memories:
        of_scope[memory.scope].append(memory.id)
    crowd: set[str] = set()
    for scope, ids in of_scope.items():
        past = [memory_id for memory_id in ids if memory_id in old]
        if scope not in read and len(past) > max(min_count, max_share * len(ids)):
            crowd.update(past)
    return Spared(crowd=frozenset(crowd))


def _read_scopes(memories: Sequence[Memory], tracked: frozenset[str]) -> set[Scope]:
    """Scopes of which a read is on record."""
    return {memory.scope for memory in memories if memory.id in tracked or memory.accessed_at is not None}


def is_protected(memory: Memory) -> bool:
    """Whether a memory may be about health, identity, family, law or safety, or cannot be told.

    >>> from .records import Scope
    >>> is_protected(Memory("1", "Is allergic to penicillin", Scope(())))
    True
    >>> is_protected(Memory("2", "Is looking for a plumber in Leeds", Scope(())))
    False
    """
    text = f"{memory.text} {memory.category or ''}"
    forms = [part for token in tokens(text) for part in _spoken(token.text)]
    return bool(_PROTECTED.search(f" {' '.join(forms)} ") or _DOSE.search(text) or _is_foreign(text))


def _spoken(form: str) -> list[str]:
    """The words of a token without case, accents and a possessive; "née" is looked up as "nee"."""
    plain = unicodedata.normalize("NFKD", form.casefold().removesuffix("'s"))
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    return letters.replace("-", " ").replace("_", " ").split()


def _is_foreign(text: str) -> bool:
    """Whether letters of another script stand in it, which the lists cannot read."""
    return any(char.isalpha() and not unicodedata.name(char, "LATIN").startswith(_READ) for char in text)


_READ = ("LATIN", "MICRO SIGN", "FEMININE ORDINAL", "MASCULINE ORDINAL")
