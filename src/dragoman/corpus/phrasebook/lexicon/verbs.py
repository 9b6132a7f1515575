"""German and English verbs with the objects they take.

Rows are `english | infinitive, er-form where irregular | participle | government | objects`. A dot sets off a
separable prefix (an·rufen), `ist` before the participle marks the auxiliary sein, `sich` a reflexive verb. Government
is a case, or a preposition and its case. Objects are noun classes (+class) and single nouns. A star after the English
verb marks a state (no progressive, nothing one is told to do), a tilde a mishap (nothing one does on purpose).
"""

# What people do to things.
TRANSITIVE = """
    buy | kaufen | gekauft | acc | +dish +grocery +clothing book newspaper magazine novel map ticket +device \
        +portable +standing +flower \
        +furniture +home +vehicle
    sell | verkaufen | verkauft | acc | +dish +clothing book newspaper magazine ticket +device +furniture \
        +home +vehicle \
        +instrument +flower
    need* | brauchen | gebraucht | acc | +clothing +document +device +portable +furniture +vehicle \
        +medicine +cutlery help money time
    have* | haben, hat | gehabt | acc | +document +portable +vehicle +instrument +medicine question idea problem \
        plan answer appointment time money apartment house room map dog cat horse bird rabbit
    look for | suchen | gesucht | acc | +clothing +document +portable +reading +home +public +business
    find~ | finden | gefunden | acc | +clothing +document +portable +reading +home
    lose~ | verlieren | verloren | acc | +document +portable cap scarf glove money
    forget~ | vergessen, vergisst | vergessen | acc | +document +portable +topic appointment birthday
    see* | sehen, sieht | gesehen | acc | +animal +sight +transport movie mistake
    eat | essen, isst | gegessen | acc | +dish bread butter cheese ham meat rice fruit chocolate honey jam ice_cream
    drink | trinken | getrunken | acc | +drink
    order | bestellen | bestellt | acc | +drink soup salad pizza steak pancake cake taxi
    cook | kochen | gekocht | acc | soup potato egg rice meat lunch dinner coffee tea
    bake | backen, backt | gebacken | acc | bread cake cookie roll pizza
    cut | schneiden | geschnitten | acc | bread cheese ham meat onion tomato carrot cake apple
    taste | probieren | probiert | acc | +dish +drink bread cheese ham meat chocolate honey jam ice_cream
    read | lesen, liest | gelesen | acc | +reading +paper map menu
    write | schreiben | geschrieben | acc | +reading letter postcard email message report sentence
    sign | unterschreiben | unterschrieben | acc | form contract report letter
    fill out | aus·füllen | ausgefüllt | acc | form
    send | schicken | geschickt | acc | letter postcard email message report gift photo form
    print | drucken | gedruckt | acc | photo form report ticket letter
    translate | übersetzen | übersetzt | acc | +reading letter email sentence word contract report song
    understand* | verstehen | verstanden | acc | question answer problem idea word sentence rule plan joke letter poem
    explain | erklären | erklärt | acc | problem idea word sentence rule plan joke mistake
    learn | lernen | gelernt | acc | poem word sentence rule song
    repeat | wiederholen | wiederholt | acc | question answer word sentence rule name
    answer | beantworten | beantwortet | acc | question letter email message
    solve | lösen | gelöst | acc | problem
    correct | korrigieren | korrigiert | acc | mistake sentence word answer letter report
    tell | erzählen | erzählt | acc | story joke
    sing | singen | gesungen | acc | song
    wear | tragen, trägt | getragen | acc | +clothing ring watch
    put on | an·ziehen | angezogen | acc | shirt T-shirt sweater jacket coat dress skirt suit shoe boot sock glove
    try on | an·probieren | anprobiert | acc | shirt sweater jacket coat dress skirt suit shoe boot hat ring
    wash | waschen, wäscht | gewaschen | acc | shirt T-shirt sweater dress skirt sock towel blanket car dog \
        apple tomato carrot
    clean | putzen | geputzt | acc | +room +opening shower fridge bicycle shoe apartment
    iron | bügeln | gebügelt | acc | shirt T-shirt dress skirt suit
    pack | packen | gepackt | acc | suitcase bag backpack
    carry | tragen, trägt | getragen | acc | suitcase bag backpack basket luggage
    use | benutzen | benutzt | acc | +device +cutlery towel umbrella pen pencil map credit_card elevator
    turn on | ein·schalten | eingeschaltet | acc | +device
    turn off | aus·schalten | ausgeschaltet | acc | +device
    repair | reparieren | repariert | acc | +device +vehicle +opening chair table roof watch elevator
    open | öffnen | geöffnet | acc | +opening letter bottle suitcase gift email closet
    close | schließen | geschlossen | acc | +opening suitcase bag closet book
    build | bauen | gebaut | acc | house school bridge boat hotel hospital shelf
    paint | streichen | gestrichen | acc | +room door wall house table chair
    rent | mieten | gemietet | acc | +home car bicycle motorcycle boat room office
    book | buchen | gebucht | acc | trip flight room tour class
    reserve | reservieren | reserviert | acc | table room seat
    cancel | ab·sagen | abgesagt | acc | trip appointment meeting concert party wedding tour
    plan | planen | geplant | acc | trip party wedding meeting vacation weekend
    pay | bezahlen | bezahlt | acc | bill rent
    pay for | bezahlen | bezahlt | acc | ticket taxi room flight trip
    visit | besuchen | besucht | acc | +sight school village island class
    show | zeigen | gezeigt | acc | +document picture photo way house apartment
    take | nehmen, nimmt | genommen | acc | train bus taxi tram plane pill medicine
    watch | sehen, sieht | gesehen | acc | game
    draw | zeichnen | gezeichnet | acc | picture tree horse house cat flower
    water | gießen | gegossen | acc | flower rose plant tree garden
    throw away | weg·werfen, wirft | weggeworfen | acc | newspaper receipt bottle letter shoe
    bring along | mit·bringen | mitgebracht | acc | +drink cake salad umbrella gift flower passport camera towel
    break~ | zerbrechen, zerbricht | zerbrochen | acc | glass plate cup vase mirror bottle
    count | zählen | gezählt | acc | money bottle sheep day
    change | ändern | geändert | acc | plan address name appointment contract
    hear* | hören | gehört | acc | song story noise music rain bird
    miss~ | verpassen | verpasst | acc | train bus plane flight ship concert
    feed | füttern | gefüttert | acc | +animal
"""

# What people do to people.
PERSONAL = """
    visit | besuchen | besucht | acc | +family +acquaintance
    meet | treffen, trifft | getroffen | acc | +family +acquaintance +stranger +profession
    call | an·rufen | angerufen | acc | +family +acquaintance +profession
    invite | ein·laden, lädt | eingeladen | acc | +family +acquaintance
    pick up | ab·holen | abgeholt | acc | +family +acquaintance child
    see* | sehen, sieht | gesehen | acc | +family +acquaintance +stranger +profession
    ask | fragen | gefragt | acc | +family +acquaintance +stranger +profession
    know* | kennen | gekannt | acc | +family +acquaintance +stranger +profession
    understand* | verstehen | verstanden | acc | +family +acquaintance +stranger +profession
    look for | suchen | gesucht | acc | +family +acquaintance +stranger +profession
    wake up | wecken | geweckt | acc | +family child guest
    introduce | vor·stellen | vorgestellt | acc | +acquaintance
    help | helfen, hilft | geholfen | dat | +family +acquaintance +stranger +profession
    thank | danken | gedankt | dat | +family +acquaintance +profession
    believe* | glauben | geglaubt | dat | +family +acquaintance +stranger +profession
    answer | antworten | geantwortet | dat | +family +acquaintance +profession
    congratulate | gratulieren | gratuliert | dat | +family +acquaintance
"""

# Verbs that take their object through a preposition.
PREPOSITIONAL = """
    wait for | warten | gewartet | auf acc | +family +acquaintance +transport doctor waiter answer letter bill menu
    think of | denken | gedacht | an acc | +family +acquaintance exam trip vacation work wedding
    talk about | sprechen, spricht | gesprochen | über acc | +event +family problem idea plan mistake book \
        weather work
    ask about | fragen | gefragt | nach dat | way price address name menu bill
    look forward to | sich freuen | gefreut | auf acc | +event
    be interested in* | sich interessieren | interessiert | für acc | +reading music game house apartment
    remember* | sich erinnern | erinnert | an acc | +event +family name address song story
    complain about | sich beschweren | beschwert | über acc | noise weather room bill neighbor waiter boss \
        soup traffic
    take care of | sich kümmern | gekümmert | um acc | +family +animal garden luggage guest
    laugh about | lachen | gelacht | über acc | joke story mistake movie
    dream of | träumen | geträumt | von dat | vacation trip house car island sea
    work on | arbeiten | gearbeitet | an dat | report plan problem book poem
    look at | sich an·sehen, sieht | angesehen | acc | +sight picture photo map house
"""

# Verbs of giving: the person in the dative, the thing in the accusative.
GIVING = """
    give | geben, gibt | gegeben | acc | +portable +reading +document +drink flower money address answer
    show | zeigen | gezeigt | acc | +document +reading picture photo house apartment way
    send | schicken | geschickt | acc | letter postcard email message report gift photo
    bring | bringen | gebracht | acc | +drink +reading soup bill menu key towel flower newspaper
    buy | kaufen | gekauft | acc | +clothing +reading ring watch doll ball
    explain | erklären | erklärt | acc | problem rule plan joke mistake way
    lend | leihen | geliehen | acc | money book umbrella pen car bicycle laptop
    recommend | empfehlen, empfiehlt | empfohlen | acc | +business +reading movie museum
    tell | erzählen | erzählt | acc | story joke
    write | schreiben | geschrieben | acc | letter postcard email message
"""

# Whole verb phrases without an object noun: `english | german middle + verb | participle`.
INTRANSITIVE = """
    sleep | schlafen, schläft | geschlafen
    work | arbeiten | gearbeitet
    swim | schwimmen | ist geschwommen
    dance | tanzen | getanzt
    sing | singen | gesungen
    laugh | lachen | gelacht
    cry | weinen | geweint
    smoke | rauchen | geraucht
    eat | essen, isst | gegessen
    cook | kochen | gekocht
    read | lesen, liest | gelesen
    study | lernen | gelernt
    wait | warten | gewartet
    travel | reisen | ist gereist
    hike | wandern | ist gewandert
    run | laufen, läuft | ist gelaufen
    shower | duschen | geduscht
    pay | bezahlen | bezahlt
    get up | auf·stehen | ist aufgestanden
    wake up~ | auf·wachen | ist aufgewacht
    fall asleep~ | ein·schlafen, schläft | ist eingeschlafen
    go out | aus·gehen | ist ausgegangen
    go shopping | ein·kaufen | eingekauft
    watch TV | fern·sehen, sieht | ferngesehen
    come back | zurück·kommen | ist zurückgekommen
    clean up | auf·räumen | aufgeräumt
    move out | aus·ziehen | ist ausgezogen
    arrive~ | an·kommen | ist angekommen
    get lost~ | sich verlaufen, verläuft | verlaufen
    hurry | sich beeilen | beeilt
    rest | sich aus·ruhen | ausgeruht
    sit down | sich setzen | gesetzt
    get dressed | sich an·ziehen | angezogen
    go for a walk | spazieren·gehen | ist spazieren gegangen
    stay at home | zu Hause bleiben | ist geblieben
    go home | nach Hause gehen | ist gegangen
    come home | nach Hause kommen | ist gekommen
    go to bed | ins Bett gehen | ist gegangen
    have breakfast | frühstücken | gefrühstückt
    listen to music | Musik hören | gehört
    play soccer | Fußball spielen | gespielt
    play chess | Schach spielen | gespielt
    play the guitar | Gitarre spielen | gespielt
    play the piano | Klavier spielen | gespielt
    play the violin | Geige spielen | gespielt
    learn German | Deutsch lernen | gelernt
    ride a bike | Fahrrad fahren, fährt | ist gefahren
    make coffee | Kaffee kochen | gekocht
"""
