"""Common lower-case words of English, so that a capital at the start of a sentence is not taken for a name.

Base forms only: `common` also accepts the regular plural, past, participle and adverb of each. The list
was drawn by frequency; words that are as often a given name or a product (Mark, Rose, Java) are left out.
"""

from __future__ import annotations

from functools import lru_cache

from .tokens import listed

_WORDS = frozenset(
    listed(
        """
abbreviated ability able abnormal aboard abolished abortion about above abroad absence absent absolute
abstract abundance abundant abuse academic accent accept acceptable acceptance access accessible accident
accommodate accomplish accordance according accordion account accountable accredited accuracy accurate
achieve acid acoustic acquire acquisition acre acrobatic across acted acting action active activist
activity actor actress acts actual acute adaptation add addition additional address adequate adjacent
adjust adjustment administrative admire admission admit adolescent adopt ads adult advance advantage
adverse advertisement advice advisor advocacy aerial aesthetic affect affection affirmative afford
affordable afraid after afternoon again against age aged agency agenda agent aggregate aggressive aging
ago agree agreement agricultural ahead air airborne aircraft airline airplane airship aise aisle alarm
album alcohol alcoholic alert algorithm alien alike alive all alleged allergic allergy alley alleyway
allow ally almost alone along alongside alphabet already also altar altered alternative although altitude
altogether aluminium aluminum always am amazed amazing ambulance amid amidst ammunition among amongst
amount amp amusement an analyses analysis anatomy ancient and anger angry animal animated ankle
anniversary announcement annual another answer anthropologist anthropology anti anticipation antique
anxiety anxious any anybody anymore anyone anything anyway anywhere apart apartment api app apparent
appeal appear appearance applicable application appointment appreciate apprentice approach appropriate
approval approve apron aquarium arcade archaeology architect architectural architecture archived are area
aren argue argument arid arm armor around arrangement array arrest arrival arrive art article artificial
artist artistic artwork as aside ask asleep aspect asphalt assault assess assessment asset assist
assistance assistant associated associations assume assumption asthma astronaut at ate athlete atmosphere
atoms atop attack attempt attend attention attentive attestation attire attitude attorneys attract
attraction attractive auction audience audio audit auditor auditorium aunt authentic author authority
automatic automatically automobile availability available average avoid awake awarded aware awareness away
awesome awful awkward awning axe baby back backdrop backend background backhoe backpack backseat backup
backward backyard bacon bacteria bad badminton bag bakery balance balcony bald ball ballerina ballet
balloon bamboo banana band bandanna banjo banker banking bankrupt bankruptcy banks barbecue barber bare
barefoot bargain bark barn barrel barren barrier bars bartender base baseball based baseline baseman
basement basic basically basis basket basketball bassist bastien bat batch bath bathroom bathtub baton
batsman battery battles battleship be beach beads beak beam beanie beans bear beard beast beat beaten
beautiful beauty became because become bed bedroom beef been beer before began begging begin begun behalf
behavior behaviour behind bei beige being belief believe belly belong below belt bench bend beneath
benefit bent beret beside besides bet between beverage beyond bias bib bicycle bicyclist big biggest bike
bikini billed billing billion bills bin biography biological biologist biology bird birth birthday bit
bite biweekly black blame bland blank blanket blew blind block blond blonde blood blouse blow blown blue
blurry boardwalk boat body bomb bonds bone bono bonus book bookstore booth border born boss both bottle
bottom bought bounce bound boundary bouquet bout bow box boy boyfriend bra bracelet brain branch brand
brass brave bread break breakfast breast breath breed brick bride bridge brief briefcase bright brilliant
bring broad broadcast broke broken bronco bronze broom brought brown brunette brush bubble bucket bucking
budget buffet bug build built bulk bull bulldozer bullet bunch bundle bungee burden burgers burgundy
burial burned burning bus bushes busiest business businessman businessmen busy but butcher butterfly
button buy by bye bypass cab cabin cable cache cafe cafeteria cage cake calendar calf call calm came camel
camera cameraman camouflage campaign campfire camping camps campsite campus can cancer candidate candle
candy cane cannot canoe canopy canvas cap capability capable capacity capital capture car carbon card
cardboard care careful cargo carnival carousel carpet carriage carrier carrot carry cart cartoon case cash
casino cast castles casual casualties cat catch categories categorized cattle caught cauliflower cause
caution cavalry ceiling celebrate celebration celery cell cello cellphone cellular cement centre cents
century ceremonial ceremony certain certificate certification chain chainsaw chair chalk chalkboard
champagne chance change channels character characteristic charge charity charm chat chateau cheap check
checkout cheek cheer cheerleading cheese chef chemical chemistry chess chest chew chicken child childhood
children chilly chin chip chocolate choir choose chop chopsticks chose chosen chronic churches cider cigar
cigarette cipe circle circular circulation cited citizen citizenship cityscape civilian civilization clad
claim clan clarinet class classical classification classroom clay clean clear clerk clever cli click
client climate climb clinical cloak clock close closest closeup cloth clothesline cloudy clown cluster cm
coach coal coastal coaster coastline coat cobblestone cocktail cocoa coconut coffee coin coke cold
collaboration collapse collar colleague collect collection colleges collision colony color colorful colour
column com combat combination come comedian comedy comfort comfortable comic comment commercial
commissioned commit commitment committees common commune communicate communication community commute
compact companion compare comparison compensation compete competent competition competitive competitor
compilation complaint complete completion complex complexity compliance comply component composition
compound comprehensive comprise concentration concept concern concerning concert conclude conclusion
concrete condition conduct conductor cone confetti confidence confident config configuration configure
confirm conflict confusion connect connection conscious consciousness consecutive consensus consent
consequence consequently consider considerable considerably consideration consist consistent consolidated
conspiracy constant constellation constituency constitutional construct construction consultant
consumption contact contain contemporary content contestant contested contests context continue continuous
contract contractor contradiction contraption contrary contrast contribute contribution contributor
control controversial controversy convenience convenient conventional conversation converse conversion
convertible conviction convince cook cookie cool cooperative cop copy copyright cord core corn coronary
corporate corporations correct correlation corruption cost costume cotton couch could couldn count
counties country countryside couple course courtroom courts courtyard cousin cover coverage coveralls
covert cow cowboy coworker crabs crack craft crane crash crate crazy cream create creation creative
creator creature credit crew crib crime criminal crisis criteria critic critical criticism crocodile cron
crop cross crosscountry crosswalk crowd cruel cry cultural culture cups curb curious currency current
currently curtain curve cushion custom customer cut cute cycle cyclist dad daily dairy damage dams dance
danger dangerous dark dashboard data database date daughter day daylight daytime dead deadline deaf deal
dealt dear death debate debris debt debut decade decent decide decision deck decline decoration decorative
decrease deep deer defeat defend defendant defensive deficit define definition degree del delayed delays
deli delicious delightful deliver delivery demand demon demonstrate demonstration denim dense density
dentist departure depend dependent depict deploy deployment deposit depth der des descent describe
description desert deserve design designation desire desk desktop desperate despite dessert destination
destroy destruction detail detect detection detective determination determine detest dev devastating
develop device diabetes dialect dialogue diameter diaper did didn died diet differ difference different
difficult difficulty dig digital dignity dimly dinosaur dio dioxide diplomatic direct direction dirt dirty
disable disabled disagree disaster disbanded disc discipline discount discovery discrimination discus
discuss discussion disease dish dishwasher disk dislike disorder display dispute dissolved distance
distant distinct distinction distinctive distinguish distribution districts ditch dive diverse diversity
divide divisions divorce do dock doctor doctoral document documentary documentation does doesn dog doing
doll dollar dolphin domain domestic dominant don done donkey door doorway dosage dose dot double doubt
dough down downgrade downhill download downtown downward dozen drag drainage drama dramatic dramatically
drank draw drawn dreadlocks dress dribbling drill drink drive driven drives driveway drop drought drove
drum drunk dry dual duck due dull dumb dump dumpster dune during dusk dust dusty duty dye dyed dying
dynamic each eachother eager ear earlier earliest earn earrings earthquake ease easier easily easy eat
eaten eatery eccentric economic economist economy edge edition editor editorial educational effect
effective effectiveness efficiency efficient effort egg eight eighteen eighth eighty either elaborate
elder election electoral electric electrical electricity electronic elegant element elephant elevation
elevator eleven eligible eliminate elite else elsewhere email emails embrace emergency emission emotion
emotional emphasis employee employment empty enable enclosure encounter encourage end endemic endpoint
enemy enforce engage engagement engine enhance enjoy enjoyable enormous enough ensure entailment enter
entertain enthusiastic entire entitled entity entrance entry envelope environment environmental episode
equal equation equipment equipped equivalent era error ers escalator escape especially essay essential
establish establishment ethical ethnic evaluate even event ever evergreen every everybody everyday
everyone everything everywhere evidence evident evil evolution evolutionary ex exact exam examination
examine example exceed excellent except exception excess excessive excited excitement exciting exclude
exclusive excuse execution executives exercise exhibit exhibition exile exist existence exit exotic expand
expansion expect expense expensive experience experiment experimental expert expertise explain explanation
explore explosion export exposure expressed expression extend extension extensive extent exterior external
extinct extra extraordinary extreme eye eyed eyeglasses fabric facade face facet facial facilitate
facility fact factor factory fail failure fair fairy fake fall fallen false familiar family famous fan
fancy fantastic far fare farm farther fascinating fashion fast fastest fat fatal fate father fault favor
favorable favorite favour favourite fear feather feature fee feed feedback feel feet fell fellow felt
female feminist fence festivals festive fetch few fiance fiancee fiction fictional field fifteen fifth
fifty fight figure file fill film filter final finale financed financial financing find fine finest finger
finish fir fire firefighter fireman firemen fireplace firetruck firm first fiscal fish fisherman fishermen
fist fit five fix flag flash flat flatmate flavor flea fled fleece fleet flew flexible flight flip float
flock flood floor floral flour flow fluffy fluid flute fly foam focus fog foggy fold foliage folk folklore
follow food fool foolish foot footage football for forbidden forced foreground forehead forest forestry
forever forget forgot forgotten form formal format formation formatter formerly forth fortified
fortnightly forty forward fossil fought foul found foundations fountain four fourteen fourth frame
framework franc franchise fraud free freedom freeway freeze frequency frequent fresh freshwater fried
friend friendship fries frivolous from front frontend frozen fruit frustrated frying ft fuel full fully
fun function functional fundamental funeral fungus funny fur furniture furry further fusion future fuzzy
fyi gable gain gambling game gang garage garb garbage garden garment gas gather gauge gave gay gaze gear
gender generally generals generate generation generic genetic genius genre gentleman gentlemen genus
geography geometric geometry gesture get gets giant gift gigantic gin girl girlfriend give given glad
glance glass global glove gluten go goal goalie goalkeeper goat goddess godfather godmother gods goes
goggles going golf gone good goodness gosh got gotten gov government gown grab grade graffiti grain gran
granddad granddaughter grandfather grandma grandmother grandpa grandson granite grape graphic grass grassy
grave gravel gravity gray great green greenhouse grew greyhound grill grin grocery groom gross ground
group grow grown growth guarantee guess guest guidance guidelines guilty guitar guitarist gum gun guy gym
gymnast habit habitat had hadn hair haircut half hallway hammock hand handbag handball handle handrail
handsome handstand hang happen happily happiness happy hard hardly hardware hardwood harm harmonica
harness harp harvest has hasn hat hate have haven hay he head headband headdress headquartered
headquarters headscarf headset healthy hear heard heart heat heavily heavy heavyset height heir held
helicopter helmet help helpful hence her herd here hero herself hey hid hidden hide hierarchy high
highchair highest hike hill hillside him himself hind hindwings hip hire his historian historical history
hit hobby hockey hold hole holidays home homeless homemade homework honest honey honeymoon honour hoodie
hoop hop hopscotch horizontal horrible horror horse horseback hose host hot hotdog hotfix hour household
how however http https hub huddle hug huge huh hula hum human humor hundred hung hungry hunting hurdle
hurry hurt husband hut hybrid hydrogen hypothesis ice icy idea ideal identical identification identify
identity if ignore ill illegal illness image imagine immediate immigrant immune impact impersonal
implement implementation import importance important impose impossible impress impression impressive
improbable improper improve improvement in inadequate inappropriate incapable incentive inches incident
include income incorrect increase incredible incumbent indeed independent indicate indication individual
indoor inducted industrial industry inexpensive infant infection inference inflatable inflation influence
influential informal information infrastructure inhabitants initial initiatives injection injury inland
inner innocent innovative input insect inside insignificant insist inspection inspiration install
installation instance instead institution institutional instructor instrument instrumental insubstantial
insulin insurance intake integral integration integrity intellectual intelligent intense intensity
intensive intent intention interact interaction interest interface interim interior internal
internationally interpretation intersection intervention interview into introduce introduction invasion
invention inventor invest investigate investigation investment investor invoice involve involvement iron
irregular irrelevant irrigation is isn issue it item its itself ja jacket jail janitor jeans jerseys jet
jewelry job jockey jog join joined joke journalism journalist journals journey joyful json judge judgment
juice jump jumpsuit jungle junk jurisdiction jury just justify karaoke karate karla kayak keep kept key
keyboard keys kg khaki kick kickboxing kid kilt kind kindergarten kiosk kiss kit kitchen kite km knee knew
knife knit knives knock know knowledge known lab label laboratory lack lacrosse lactose lady laga lager
laid lamp land landlord landscape lanes language lap laptop large largest larvae last late latency latest
laugh launch laundromat laundry lava law lawn lawyer lay lazy lb lead leadership leaf lean leap learn
lease leash least leather leave lecture led ledge left leg legacy legendary leggings legislation
legitimate lemon lemonade length leotard less lesson let level lia liability library licence license lie
life lifestyle lifetime lift light like likes lime limestone limit limo line linear lineup link linter lip
lipstick liquid list listen lit literary literature litigation little live lives living lizard load loaf
loan lobby local location lock log logic logical login logo logout logs lone long longest look loom loop
loose lose loss lost lot lottery lounging love low lowest lowland loyal loyalty luck lucky luggage lunch
lung lush luxury lying lyrics machine machinery made magazine magical magnetic mail mailbox main mainland
mainly mainstream maintain maintenance major majority make makeshift makeup male mall mallet mama man
manage manageable mandate mandatory mane maneuver mannequin manual manufacture manuscript many map
marathon marble marching margin marked marker market marketplace marking marks maroon marriage marry
martial mascot mashed mask mass massive masterpiece mat match mate material math mathematician mathematics
mattress mature maximum maybe me meadow meal mean meant measure measurement meat mechanic mechanical
mechanism medals median medical medieval meditation medium meet meeting megaphone member membership memory
men mental mention mentor menu merchandise mere merge mess message messy met metal metallic method methyl
metric mi mic microphone microscope mid midair middle midnight midst might migraine migrant migrate
migration mild milestone military milk milling million mime mind mine mineral miniature minimal minimum
minor minority minute mirror missed missile missing mission mistake mix mixture mm mobile mode model
moderate modern modest modification moist mom moment mon monarch money monitor monitoring monk monkey
month monthly monuments mood mop moral more morning mortality mortgage most mostly moth motivation
motocross motor motorbike motorcycle motorcyclist motorized mound mountain mountainous mountainside
mounted mouth move moved movement movie much mud muddy mug mule multi multicultural multinational multiple
mum municipalities mural murder murky muscle muscular museums music musical musician must mustache mustard
mustn mutual my myself mysterious mythology na nail naked name named nana nap narrative narrow nasty
nation nationality nationwide natural nature navigation ncipe nd near nearby nearest neat necessarily
necessary neck necklace need needn needs nefeld negative negotiate neighbor neighborhood neighbour neither
nek neon nephew nerve nervous net neutral never nevertheless newborn newer newest newly news newspaper
newsstand next ng nice nickname niece night nightclub nighttime nine nineteen nineteenth ninety nitrogen
no noble nobody noise noisy nominal nomination nominee non noncrucial none nonetheless nonexistent
nonprofit noon nor normal normally northeastern nose not notable notably note notebook notes nothing
notice notion novel novelist now nowadays nowhere nuclear nude number numerous nun nurse nursery oath
obesity object objective obscure observation observe obstacle obtain obvious occasion occasional occupant
occupation occur ocean odd of off offense offensive office official offset often oh oil ois ok okay old
oldest on onboarding once one ongoing online only onsite onto open operate operation operational operator
opinion opponent opportunity opposite opposition optical option or oral orange ordained order ordinary
organ organic organisation organization organizational organize oriented origin original originally
ornamental ornate other otherwise ought our ourselves out outage outcome outdoor outfit output outside
outskirts outstretched oven over overall overcast overcome overhead overlook overseas oversight overweight
overwhelming own ownership owns oxygen ozone pace pack package pad paddle page paid pain paint pair pale
palm pancake panel papa paper parachute parade paradox paragraph parallel paranormal parent parish parka
parrot part partial participant participate participation particular partner partnership pass passage
passenger passersby passion passive passport password past pasta pastry patch patent path pathway patient
patio patriotic patrol patron pattern pause pavement pay payment peaceful peach peanut pedestrian peer pen
penalty pencil penicillin pension people per percent percentage percussion perennial perfect perform
performance perhaps period periodical permanent permission permit person personal personality personnel
perspective pet petals pharmacology phenomenon philosopher philosophical philosophy phone photo photograph
photography phrase physical physician physio physiotherapist pianist piano pick pickup picnic picture
picturesque pie piece pier pig pigtails pile pillar pillow pilot pin pinata pine ping pink pipe pipeline
pirate pistol pit pitch pizza place plaid plain plan plane planets plank plant plantation plastic plate
platform play playful playground pleasant please pleasure plenty plot plug plus pocket podcast podium poem
poet poetry point poison pole police policeman policemen policy polite political politician politics polka
poll pollution polo pond pony ponytail poodle pool poor popular popularity population populous porch pork
portable portfolio portion portrayal pose position positive possess possession possibility possible
possibly pot potato potential pottery pound pour poverty powder power powerful practical practice praise
pray preceding precious precise predecessor predict prefer preferred pregnant preliminary premature
premium preparation prepare presence present presentation preserve presidential presidents pressure
prestigious presumably pretend pretty prevent prevention previous previously prey price pricey pride
priest primarily primary primitive principal principle print prior prison privacy private privilege prizes
probability probably problem procedure process prod produce product production productive productivity
profession professional professor profile profit profitable program progress project projector prominent
promise promote promotion prone pronoun proof propaganda property proportion proposal propose prose
prosperity protagonist protect protection protective protein protest protocols prototype proud prove
proven provide provision proximity psychiatrist psychological psychology pub public publication publish
puck puddle puffy pull pumpkin punch punishment punk puppet puppy purchase pure purple purpose purse
pursue pursuit push put puzzle quad qualification qualify quality quantity quarterback quarterly question
quick quiet quit quite quota rabbit race racetrack racial racism rack racket radical raft rag rail rain
raincoat rainy raise rally ramp ran random rang range rank rape rapid rapper rare rarely rate rather ratio
rational raw rays razor rd re reach reaction read readily ready real realistic reality realize rear reason
reasonable reasonably rebase rebuilt recall receipt receive recent recently reception recession recipe
recipient recognition recognize recommend recommendation record recover recovery recreational rectangular
red reddish reduce reduction refactor referee reference refined reflect reflection reflective refrigerator
refund refuse regard regarding regardless regime registered registration regular regulate regulation reign
relation relationship relative relax relay release relevant reliability reliable relief religion religious
rely remain remarkable remember remind reminder remote removal remove renowned rent rental rents repair
replace replacement replica reply repo report repository represent representation reputation request
require requirement rescue resemblance resemble reserved residence resident residential resistance
resolution resort resource respect respond response responsibility responsible restaurant resting
restoration restore rests result retail retain retirement retreat retrieve retro return reunion reveal
revenge revenue reverse review reviewer reward rez rhythmic ribbon rich rickshaw rid ridden ride
ridiculous rifle right ring rink riot rise risen risk ritual rival riverside road roadmap roadside roadway
robe robot rock rocket rocky rod rode rodeo role rollback rolled roller rolls romantic roof rooftop room
roommate roots rope rose rough round routine row rubble rude rug rugby rule rules run sack sacred
sacrifice sad safe safety saffron said sail sailboat sailor sake salad salary sale salon same sample sand
sandbox sandwich sandy sat satellite satisfaction sauce sauna save savings saw saxophone say scaffold
scale scandal scarcely scarf scarves scary scattered scenario scene scenery scenic schedule schema scheme
scholarship scientific scientist scissors scoop scooter scope score screen screenplay screenwriter script
scuba sculptor sculpture sdk seafood seal search seaside season seasonal seat second secondary secret
secretary section sector secure see seed seek seem seen segment seize sejm seldom select selection self
selfie sell semester semi semifinals seminar senator send senior sense sensitive sensitivity sensor sent
sentence separate separation sequel sequence serial series serious serve server sessions set settle
settlement seven seventeen seventh seventy several severe sex sexual sexy shade shadow shady shaggy shake
shall shallow shame shape share shark sharp shave shawl she shed sheep sheet shelf shell shellfish shelter
shift shines shining shiny ship shirt shirtless shock shoe shook shoot shop shore shoreline short shortage
shot should shouldn shovel show shown shrimp shut shuttle shy sibling sick side sidewalk sideways siege
sight sign signal signature significance significant signup silence silent silhouette silk silly silver
similar simple simply simulation since sing single sink sipping sister sit sitcom site situated situation
six sixteen sixth sixty size skate skateboard ski skill skin skinny skirt skull sky slacks slave slavery
sled sleep sleeve sleeveless slender slept slice slide slight slope slot slow small smallest smart smell
smile smoke smooth snack snake snow snowball snowboard snowman snowsuit snowy so soap sober soccer
sociologist sociology soda sodium sofa soft softball software soil sold soldier sole solid solo soluble
solution solve some somebody someday somehow someone something sometime sometimes somewhat somewhere son
songs songwriter soon sophisticated sorry sort sought soul sound soup source space spare sparks speak
speaks spear specialist species specific specifically specification spectacular spectrum speech speed
spell spend spent sphere spike spin spiral spirit spiritual spite splash splendid split spoke spoken
sponge sponsor spoon sport spot spouse spray spread spring sprint spy sq squad squares squash squirrel ssh
stability stable stack staff stage stained stainless staircase stairway stake stakeholder stall stamp
stance stand standard standardized standup stare start started startup stated statement statewide station
stationary statue status statute statutory stay steady steak steam steel steep steeplechase steer stem
step stepdad stepmum stewardship stick still stilts stole stolen stomach stone stood stool stoop stop
stopped storage store storefront storm story stove straight strange strap strategy straw strawberry streak
stream street strength stress stretch strict strike string strip stripe stroke stroll strong strongest
struck structural structure struggle stuck student studies studio study stuff stump stunt stupid style
subgenre subject submarine submerged submit subscription subsequent subsidiary subsidy subspecies
substance substantial substitute subtle subtropical suburb suburban subway succeed success successful
succession successor such sudden suffer sufficient suggest suicide suit suitable suitcase suite sulfur sum
summarise summarize summary sun sung sunlight sunny sunset superb superior supermarket supernatural
supervision supervisor supplement supplier supply support suppose sur sure surf surface surfboard surgeon
surgery surgical surname surplus surprise surrender surround survival survive sushi suspect sustainable
sweat sweatpants sweatshirt sweet swept swim swimsuit swing switch sword swung symbol system table tablet
tackle tag take taken takes tale talent talk tall tan tank tape target tarp task tasting tasty tattoo
taught tax taxi te tea teach teaches teal team teammate teaux technical technician technique technological
tee teen teenage teeth telephone telescope television tell temperature templates temples temporarily
temporary ten tenancy tenant tend tendency tennis tent tenth tenure tequila term terrain terrible
territory terrorism terrorist test testimony tests text th than thank that the theater theatrical their
them theme themselves then theology theorem theoretical theorist theory therapist therapy there thereafter
therefore these thesis they thick thief thin thing think third thirsty thirteen thirty this those though
thought thousand thread threat three threw throat throne through throughout throughput throw thrown thumb
thus thyroid ticket tico tie tier tiger tight tile till timber time timeout tiny tip tire tissue title to
tobacco today todo toe together toilet token told toll tomato tomorrow tone tongue tonic too took tool
toothbrush top topic topless torch torn tornado torture total touch touchdown tough toured touring tourism
tourist tournament tow toward towel town toy trace track tractor trade tradition traditional traffic trail
train tram trampoline transaction transfer transform transformation transgender transition translation
transmission transparent transport transportation trap trash trashcan trauma travel tray treadmill
treasures treat treatment tree trench trend trial triangle tribal tributary trick tricycle trilogy trim
trip tripod trolley tropical trouble trousers trout truck true truly trumpet trunk truth try tub tuba tube
tug tulips tune tunnel turban turn turnover turquoise turtle tutu tuxedo twelve twenty twice twin two
tying type typical typically ugly uh um umbrella umpire unable unacceptable unafraid unavailable uncertain
uncertainty uncle unclear uncomfortable uncommon und under underground underneath understand understood
underwater underwear uneasy unemployed unemployment unexpected unfair unfinished unhappy unhealthy
unicycle unidentified uniform unimportant uninstall uninterested unions unique unit universities unknown
unless unlike unnatural unnecessary unofficial unready unreal unreceptive unrelated unstable unsuccessful
unsure until untruthful unusual up upcoming upgrade uphill upload upon upright upscale upset upside
upstairs uptime upward urban usage use used useful useless user uses using usual usually utility vacation
vaccine vacuum valid validity valuable valuation value variable variant variation variety various vary
vase vast vegan vegetable vegetarian vegetation vehicle vending vendor venture venue verge version versus
vertical very vessel vest veteran via vibrant victim victory video view village vine vintage vinyl
violence violent violin virtual virus visa visibility visible vision visit visitor visor visual vital
vitamin vocalist vocals vodka voice volcanic volcano volleyball volume voluntary volunteer von vote
vulnerable wading wage wagon waist wait waitress wake walk walkway wall wallet wand want wants warehouse
warm warning was wash wasn waste watch water waterfall waterfront watermelon waterway wave way we weak
wealth wealthy weapon wear weather webhook website wedding weed week weekend weekly weight weird welcome
welfare well went were weren wet wetsuit what whatever wheat wheel wheelbarrow wheelchair wheelie when
whenever where whereas whether which while whilst whisky whistle white who whole whom whose why wide
widespread width wife wig wilderness win wind window wine wing wire wise wish with withdraw withdrew
within without witness wives wolves woman women won wonder wonderful wood wooden woodland wool word wore
work workflow workforce workout workplace works worldwide worn worry worse worship worst worth would
wouldn wound woven wrapped wrestle wrist write written wrong wrote yacht yaml yard yarn yeah year yearly
yellow yes yesterday yet yield yo yoga you young youngest your yourself youth zero zip zombie zoo zoology
"""
    )
)
_ENDINGS = (
    ("ies", "y"),
    ("ied", "y"),
    ("es", ""),
    ("s", ""),
    ("ed", ""),
    ("ed", "e"),
    ("ing", ""),
    ("ing", "e"),
    ("ly", ""),
)
_SHORTEST_BASE = 3


@lru_cache(maxsize=65536)
def common(word: str) -> bool:
    """Return whether a folded word, or the base it is inflected from, is everyday vocabulary.

    >>> common("prefers"), common("stopped"), common("łukasz")
    (True, True, False)
    """
    if word in _WORDS:
        return True
    for ending, added in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_BASE:
            base = word[: -len(ending)]
            if base + added in _WORDS or (base[-1] == base[-2] and base[:-1] in _WORDS):
                return True
    return False
