"""German and English adjectives with the nouns they describe.

Rows are `english | positive | comparative | superlative stem | nouns`; an empty comparative or superlative \
        follows the rule.
English comparison follows the length of the word, with exceptions in `english.py`. Nouns are listed as in `verbs.py`.
"""

ADJECTIVES = """
    new | neu | | neuest | +clothing +reading +device +portable +furniture +vehicle +home +business +sight \
        computer boss neighbor colleague teacher word address
    old | alt | älter | ältest | +family +stranger +clothing +reading +device +furniture +vehicle +home \
        +sight +animal bridge city village tree friend
    big | groß | größer | größt | +furniture +home +room +vehicle +business +sight +animal +landscape bag \
        suitcase plate tree problem mistake
    small | klein | | | +furniture +home +room +vehicle +business +portable +animal +standing child boy girl \
        gift mistake village island garden
    tall | groß | größer | größt | +family +stranger tree tower
    long | lang | länger | längst | story novel letter report trip conversation movie dress coat scarf street \
        river bridge word sentence meeting
    short | kurz | kürzer | kürzest | story letter report trip conversation movie dress skirt poem message \
        sentence answer meeting
    good | gut | besser | best | +reading +business +profession +dish +instrument idea answer friend plan \
        movie concert game question
    bad | schlecht | | | +business +reading idea answer plan movie weather doctor joke
    expensive | teuer | | | +clothing +device +furniture +home +vehicle +business +instrument watch ring \
        suitcase gift trip ticket
    cheap | billig | | | +clothing +device +furniture +business apartment car bicycle watch suitcase trip ticket
    beautiful | schön | | | +clothing +flower +home +landscape +animal picture song ring watch gift garden \
        castle church woman girl
    ugly | hässlich | | | +clothing +furniture picture house lamp vase
    modern | modern | | modernst | +home +room +device +furniture museum theater library hotel school office \
        factory airport train_station hospital
    fresh | frisch | | frischest | +dish +grocery milk orange_juice water
    delicious | lecker | | | +dish +grocery coffee tea lunch dinner breakfast
    hot | heiß | | heißest | soup coffee tea water milk potato plate
    warm | warm | wärmer | wärmst | soup milk water +room coat jacket sweater cap blanket roll weather
    cold | kalt | kälter | kältest | water milk beer tea soup coffee +room lake wind weather lemonade
    sweet | süß | | süßest | apple orange strawberry cherry cake cookie jam tea lemonade
    strong | stark | stärker | stärkst | coffee tea wind man horse beer
    fast | schnell | | | car bicycle motorcycle train boat ship plane computer horse dog taxi
    slow | langsam | | | bus train tram computer waiter taxi ship elevator laptop
    loud | laut | | lautest | radio music street washing_machine child neighbor tourist alarm_clock restaurant party
    quiet | ruhig | | | room street hotel village garden neighbor apartment child beach library
    clean | sauber | | | +room +clothing +standing +cutlery towel water beach street window hotel hand car
    dirty | schmutzig | | | +room +clothing +standing +cutlery towel water beach street window hotel hand car dog
    empty | leer | | | bottle glass cup basket fridge suitcase wallet restaurant room street train bag
    full | voll | | | bottle glass cup basket fridge suitcase restaurant train bus cinema bag hotel
    heavy | schwer | | | suitcase bag backpack table closet basket luggage book box
    light | leicht | | | suitcase bag backpack jacket blanket coat bicycle luggage dinner
    dark | dunkel | | | room kitchen bedroom basement forest street living_room church
    bright | hell | | | room kitchen bedroom apartment living_room lamp office
    red | rot | | | +clothing +vehicle +flower bag backpack suitcase umbrella apple door carpet pencil sofa bus
    blue | blau | | | +clothing +vehicle bag backpack suitcase umbrella door carpet pencil sofa vase towel
    green | grün | | | +clothing +vehicle bag backpack suitcase umbrella apple door carpet pencil sofa tree
    yellow | gelb | | | +clothing +flower bag umbrella car bicycle pencil vase towel blanket
    black | schwarz | | | +clothing +vehicle bag suitcase umbrella cat dog horse sofa wallet
    white | weiß | | | +clothing +opening car horse rabbit cat flower rose towel wall table
    brown | braun | | | +clothing bag suitcase horse dog table chair sofa wallet cow
    easy | einfach | | | question exam word rule answer sentence game song language
    difficult | schwierig | | | question exam word rule answer sentence game problem language poem \
        conversation customer
    important | wichtig | | | question answer problem word rule letter message appointment meeting contract exam plan
    interesting | interessant | | interessantest | +reading +event +sight idea question report letter city \
        conversation
    boring | langweilig | | | +reading +event museum report city letter
    funny | lustig | | | story joke movie hat book picture poem song child monkey game teacher
    strange | seltsam | | | story dream question answer letter man noise picture idea
    friendly | freundlich | | | +profession +acquaintance +stranger dog letter
    nice | nett | | nettest | +acquaintance +profession man woman boy girl conversation
    polite | höflich | | | +profession man woman boy girl child neighbor guest letter answer
    smart | klug | klüger | klügst | +family +profession boy girl child dog question idea
    young | jung | jünger | jüngst | +profession man woman dog cat horse tree colleague neighbor
    famous | berühmt | | berühmtest | singer musician actor artist lawyer cook restaurant museum castle \
        church novel picture song city bridge
    rich | reich | | | +family man woman neighbor lawyer actor farmer
    healthy | gesund | gesünder | gesündest | child fruit salad apple breakfast soup horse
    sick | krank | kränker | kränkst | +family +animal child boy girl colleague teacher boss guest
    hungry | hungrig | | | child boy girl dog cat guest bird horse pig bear lion
    tired | müde | | | +family child boy girl driver nurse cook dog horse
    dangerous | gefährlich | | | street dog lion bear mountain river trip bridge
    comfortable | bequem | | | chair sofa bed shoe sweater car seat train pillow
    practical | praktisch | | praktischst | bag backpack gift idea umbrella jacket laptop shelf
    broken | kaputt | | | +device bicycle car chair umbrella watch window door bottle
    round | rund | | rundest | table mirror carpet window plate pillow basket
    wet | nass | nasser | nassest | towel shoe coat jacket street umbrella dog hat blanket
    thick | dick | | | book coat sweater blanket novel sock wall tree
    narrow | schmal | | | street bridge door bed river closet
    wide | breit | | | street bridge door bed river tie belt
    high | hoch | höher | höchst | mountain tower price wall bridge
    wrong | falsch | | | answer address number train key bill word bus name
    correct | richtig | | | answer address number sentence word bill
    lazy | faul | | | boy student cat dog colleague waiter
    hard-working | fleißig | | | +profession boy girl son daughter colleague
    spicy | scharf | schärfer | schärfst | soup sausage sauce
    sour | sauer | | | apple orange cherry lemon milk
"""

# Feelings and states of people, used only after "be".
STATES = """
    tired | müde
    sick | krank
    hungry | hungrig
    thirsty | durstig
    happy | glücklich
    sad | traurig
    angry | wütend
    nervous | nervös
    ready | fertig
    busy | beschäftigt
    late | spät dran
    married | verheiratet
    single | ledig
    satisfied | zufrieden
    disappointed | enttäuscht
    surprised | überrascht
    healthy | gesund
    curious | neugierig
    alone | allein
    awake | wach
    excited | aufgeregt
    worried | besorgt
    punctual | pünktlich
    at home | zu Hause
    on vacation | im Urlaub
    in a hurry | in Eile
"""

# Weather after "it is".
WEATHER = """
    cold | kalt
    warm | warm
    hot | heiß
    sunny | sonnig
    cloudy | bewölkt
    windy | windig
    foggy | neblig
    wet | nass
    dry | trocken
    cool | kühl
    dark | dunkel
    slippery | glatt
"""
