"""German and English nouns for things: food, clothes, papers, devices, furniture, vehicles, ideas.

Each table maps a semantic class to rows `english | article noun | plural | note`. A plural of `-` marks a mass noun,
which takes no "a". The note `weak` marks the n-declension; any other note is the genitive singular where the rule
would be wrong. Knows nothing of grammar: `lexicon.py` reads the rows, `german.py` and `english.py` inflect them.
"""

from dragoman.corpus.phrasebook.tables import word_set

# Nouns one rarely meets in the singular: "she is buying cherries", not "a cherry".
USUALLY_PLURAL = word_set(
    "strawberry cherry potato tomato carrot onion mushroom cookie roll shoe boot sock glove stamp flower rose"
)

THINGS: dict[str, str] = {
    "dish": """
        apple | der Apfel | Äpfel
        banana | die Banane | Bananen
        pear | die Birne | Birnen
        orange | die Orange | Orangen
        lemon | die Zitrone | Zitronen
        strawberry | die Erdbeere | Erdbeeren
        cherry | die Kirsche | Kirschen
        potato | die Kartoffel | Kartoffeln
        tomato | die Tomate | Tomaten
        carrot | die Karotte | Karotten
        onion | die Zwiebel | Zwiebeln
        mushroom | der Pilz | Pilze
        egg | das Ei | Eier
        roll | das Brötchen | Brötchen
        sandwich | das Sandwich | Sandwiches
        sausage | die Wurst | Würste
        soup | die Suppe | Suppen
        salad | der Salat | Salate
        pizza | die Pizza | Pizzen
        steak | das Steak | Steaks | Steaks
        pancake | der Pfannkuchen | Pfannkuchen
        cake | der Kuchen | Kuchen
        cookie | der Keks | Kekse
    """,
    "grocery": """
        bread | das Brot | -
        butter | die Butter | -
        cheese | der Käse | -
        ham | der Schinken | -
        meat | das Fleisch | -
        rice | der Reis | -
        fruit | das Obst | -
        chocolate | die Schokolade | -
        honey | der Honig | -
        jam | die Marmelade | -
        sugar | der Zucker | -
        salt | das Salz | -
        pepper | der Pfeffer | -
        ice cream | das Eis | - | Eises
    """,
    "drink": """
        coffee | der Kaffee | - | Kaffees
        tea | der Tee | - | Tees
        water | das Wasser | -
        milk | die Milch | -
        beer | das Bier | -
        red wine | der Rotwein | -
        white wine | der Weißwein | -
        orange juice | der Orangensaft | -
        apple juice | der Apfelsaft | -
        lemonade | die Limonade | -
        hot chocolate | der Kakao | -
    """,
    "clothing": """
        shirt | das Hemd | Hemden
        T-shirt | das T-Shirt | T-Shirts | T-Shirts
        sweater | der Pullover | Pullover
        jacket | die Jacke | Jacken
        coat | der Mantel | Mäntel
        dress | das Kleid | Kleider
        skirt | der Rock | Röcke
        suit | der Anzug | Anzüge
        hat | der Hut | Hüte
        cap | die Mütze | Mützen
        scarf | der Schal | Schals | Schals
        tie | die Krawatte | Krawatten
        belt | der Gürtel | Gürtel
        shoe | der Schuh | Schuhe
        boot | der Stiefel | Stiefel
        sock | die Socke | Socken
        glove | der Handschuh | Handschuhe
    """,
    "reading": """
        book | das Buch | Bücher
        newspaper | die Zeitung | Zeitungen
        magazine | die Zeitschrift | Zeitschriften
        novel | der Roman | Romane
        story | die Geschichte | Geschichten
        poem | das Gedicht | Gedichte
    """,
    "paper": """
        letter | der Brief | Briefe
        postcard | die Postkarte | Postkarten
        email | die E-Mail | E-Mails
        message | die Nachricht | Nachrichten
        report | der Bericht | Berichte
        form | das Formular | Formulare
        contract | der Vertrag | Verträge
        bill | die Rechnung | Rechnungen
        receipt | die Quittung | Quittungen
    """,
    "document": """
        passport | der Pass | Pässe
        ticket | die Fahrkarte | Fahrkarten
        ID card | der Ausweis | Ausweise
        visa | das Visum | Visa | Visums
        credit card | die Kreditkarte | Kreditkarten
        map | der Stadtplan | Stadtpläne
        driver's license | der Führerschein | Führerscheine
    """,
    "device": """
        phone | das Telefon | Telefone
        cell phone | das Handy | Handys
        camera | die Kamera | Kameras
        computer | der Computer | Computer
        laptop | der Laptop | Laptops
        printer | der Drucker | Drucker
        radio | das Radio | Radios
        television | der Fernseher | Fernseher
        washing machine | die Waschmaschine | Waschmaschinen
        coffee machine | die Kaffeemaschine | Kaffeemaschinen
        alarm clock | der Wecker | Wecker
        lamp | die Lampe | Lampen
        heater | die Heizung | Heizungen
        shower | die Dusche | Duschen
    """,
    "portable": """
        bag | die Tasche | Taschen
        backpack | der Rucksack | Rucksäcke
        suitcase | der Koffer | Koffer
        umbrella | der Regenschirm | Regenschirme
        key | der Schlüssel | Schlüssel
        wallet | die Brieftasche | Brieftaschen
        watch | die Armbanduhr | Armbanduhren
        ring | der Ring | Ringe
        gift | das Geschenk | Geschenke
        picture | das Bild | Bilder
        photo | das Foto | Fotos
        stamp | die Briefmarke | Briefmarken
        pen | der Kugelschreiber | Kugelschreiber
        pencil | der Bleistift | Bleistifte
        notebook | das Heft | Hefte
        towel | das Handtuch | Handtücher
        toothbrush | die Zahnbürste | Zahnbürsten
        pillow | das Kissen | Kissen
        blanket | die Decke | Decken
        ball | der Ball | Bälle
        doll | die Puppe | Puppen
    """,
    "standing": """
        bottle | die Flasche | Flaschen
        glass | das Glas | Gläser
        cup | die Tasse | Tassen
        plate | der Teller | Teller
        pot | der Topf | Töpfe
        vase | die Vase | Vasen
        candle | die Kerze | Kerzen
        basket | der Korb | Körbe
    """,
    "cutlery": """
        knife | das Messer | Messer
        fork | die Gabel | Gabeln
        spoon | der Löffel | Löffel
    """,
    "flower": """
        flower | die Blume | Blumen
        rose | die Rose | Rosen
        plant | die Pflanze | Pflanzen
        tree | der Baum | Bäume
    """,
    "furniture": """
        table | der Tisch | Tische
        chair | der Stuhl | Stühle
        bed | das Bett | Betten
        sofa | das Sofa | Sofas
        desk | der Schreibtisch | Schreibtische
        closet | der Schrank | Schränke
        shelf | das Regal | Regale
        mirror | der Spiegel | Spiegel
        carpet | der Teppich | Teppiche
        fridge | der Kühlschrank | Kühlschränke
    """,
    "opening": """
        door | die Tür | Türen
        window | das Fenster | Fenster
    """,
    "home": """
        house | das Haus | Häuser
        apartment | die Wohnung | Wohnungen
    """,
    "room": """
        room | das Zimmer | Zimmer
        kitchen | die Küche | Küchen
        bathroom | das Badezimmer | Badezimmer
        living room | das Wohnzimmer | Wohnzimmer
        bedroom | das Schlafzimmer | Schlafzimmer
        basement | der Keller | Keller
    """,
    "vehicle": """
        car | das Auto | Autos
        bicycle | das Fahrrad | Fahrräder
        motorcycle | das Motorrad | Motorräder
        truck | der Lastwagen | Lastwagen
        boat | das Boot | Boote
    """,
    "transport": """
        train | der Zug | Züge
        bus | der Bus | Busse | Busses
        taxi | das Taxi | Taxis
        tram | die Straßenbahn | Straßenbahnen
        subway | die U-Bahn | U-Bahnen
        ship | das Schiff | Schiffe
        plane | das Flugzeug | Flugzeuge
    """,
    "instrument": """
        guitar | die Gitarre | Gitarren
        piano | das Klavier | Klaviere
        violin | die Geige | Geigen
        trumpet | die Trompete | Trompeten
    """,
    "medicine": """
        medicine | das Medikament | Medikamente
        pill | die Tablette | Tabletten
        prescription | das Rezept | Rezepte
    """,
    "topic": """
        question | die Frage | Fragen
        answer | die Antwort | Antworten
        problem | das Problem | Probleme
        idea | die Idee | Ideen
        word | das Wort | Wörter
        sentence | der Satz | Sätze
        rule | die Regel | Regeln
        plan | der Plan | Pläne | Plans
        mistake | der Fehler | Fehler
        joke | der Witz | Witze
        address | die Adresse | Adressen
        name | der Name | Namen | weak Namens
        song | das Lied | Lieder
    """,
    "event": """
        trip | die Reise | Reisen
        party | die Party | Partys
        wedding | die Hochzeit | Hochzeiten
        birthday | der Geburtstag | Geburtstage
        concert | das Konzert | Konzerte
        movie | der Film | Filme | Films
        game | das Spiel | Spiele
        exam | die Prüfung | Prüfungen
        class | der Kurs | Kurse
        meeting | die Besprechung | Besprechungen
        appointment | der Termin | Termine
        conversation | das Gespräch | Gespräche
        vacation | der Urlaub | Urlaube
        weekend | das Wochenende | Wochenenden
        flight | der Flug | Flüge
        tour | die Führung | Führungen
        breakfast | das Frühstück | -
        lunch | das Mittagessen | -
        dinner | das Abendessen | -
    """,
    "abstract": """
        work | die Arbeit | -
        money | das Geld | -
        time | die Zeit | -
        music | die Musik | -
        help | die Hilfe | -
        weather | das Wetter | -
        rain | der Regen | -
        snow | der Schnee | - | Schnees
        wind | der Wind | -
        luggage | das Gepäck | -
        traffic | der Verkehr | -
        noise | der Lärm | - | Lärms
        luck | das Glück | -
    """,
    "body": """
        head | der Kopf | Köpfe
        arm | der Arm | Arme
        leg | das Bein | Beine
        foot | der Fuß | Füße
        hand | die Hand | Hände
        finger | der Finger | Finger
        eye | das Auge | Augen
        ear | das Ohr | Ohren
        tooth | der Zahn | Zähne
        knee | das Knie | Knie | Knies
        back | der Rücken | Rücken
        stomach | der Bauch | Bäuche
        throat | der Hals | Hälse
        shoulder | die Schulter | Schultern
    """,
    "sundry": """
        wall | die Wand | Wände
        roof | das Dach | Dächer
        elevator | der Aufzug | Aufzüge
        seat | der Platz | Plätze
        box | die Kiste | Kisten
        menu | die Speisekarte | Speisekarten
        sauce | die Soße | Soßen
        way | der Weg | Wege
        rent | die Miete | Mieten
        price | der Preis | Preise
        number | die Nummer | Nummern
        language | die Sprache | Sprachen
        dream | der Traum | Träume
        sea | das Meer | Meere
    """,
    "unit": """
        minute | die Minute | Minuten
        hour | die Stunde | Stunden
        day | der Tag | Tage
        night | die Nacht | Nächte
        week | die Woche | Wochen
        month | der Monat | Monate
        year | das Jahr | Jahre
        person | die Person | Personen
        page | die Seite | Seiten
    """,
}
