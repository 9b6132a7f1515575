"""German and English nouns for people, animals and places.

Rows as in `things.py`. People have a fifth column, the feminine form of a profession. Places have a row of their own:
where one is (English and German preposition) and how one goes there, because German chooses the preposition by the
place.
"""

from dragoman.corpus.phrasebook.tables import word_list

PEOPLE: dict[str, str] = {
    "family": """
        father | der Vater | Väter
        mother | die Mutter | Mütter
        brother | der Bruder | Brüder
        sister | die Schwester | Schwestern
        son | der Sohn | Söhne
        daughter | die Tochter | Töchter
        grandfather | der Großvater | Großväter
        grandmother | die Großmutter | Großmütter
        uncle | der Onkel | Onkel
        aunt | die Tante | Tanten
        husband | der Mann | Männer
        wife | die Frau | Frauen
    """,
    "acquaintance": """
        friend | der Freund | Freunde
        girlfriend | die Freundin | Freundinnen
        neighbor | der Nachbar | Nachbarn | weak
        colleague | der Kollege | Kollegen | weak
        boss | der Chef | Chefs | Chefs
        guest | der Gast | Gäste
    """,
    "stranger": """
        man | der Mann | Männer
        woman | die Frau | Frauen
        boy | der Junge | Jungen | weak
        girl | das Mädchen | Mädchen
        child | das Kind | Kinder
        tourist | der Tourist | Touristen | weak
        customer | der Kunde | Kunden | weak
    """,
    "profession": """
        doctor | der Arzt | Ärzte | | Ärztin
        dentist | der Zahnarzt | Zahnärzte | Zahnarztes | Zahnärztin
        teacher | der Lehrer | Lehrer | | Lehrerin
        student | der Student | Studenten | weak | Studentin
        waiter | der Kellner | Kellner | |
        driver | der Fahrer | Fahrer | | Fahrerin
        police officer | der Polizist | Polizisten | weak | Polizistin
        cook | der Koch | Köche | Kochs | Köchin
        baker | der Bäcker | Bäcker | | Bäckerin
        nurse | die Krankenschwester | Krankenschwestern | |
        lawyer | der Anwalt | Anwälte | | Anwältin
        engineer | der Ingenieur | Ingenieure | | Ingenieurin
        singer | der Sänger | Sänger | | Sängerin
        musician | der Musiker | Musiker | | Musikerin
        actor | der Schauspieler | Schauspieler | |
        journalist | der Journalist | Journalisten | weak | Journalistin
        hairdresser | der Friseur | Friseure | | Friseurin
        farmer | der Bauer | Bauern | weak | Bäuerin
        artist | der Künstler | Künstler | | Künstlerin
        pilot | der Pilot | Piloten | weak | Pilotin
        architect | der Architekt | Architekten | weak | Architektin
        mechanic | der Mechaniker | Mechaniker | | Mechanikerin
        translator | der Übersetzer | Übersetzer | | Übersetzerin
        gardener | der Gärtner | Gärtner | | Gärtnerin
    """,
    "animal": """
        dog | der Hund | Hunde
        cat | die Katze | Katzen
        horse | das Pferd | Pferde
        bird | der Vogel | Vögel
        cow | die Kuh | Kühe
        pig | das Schwein | Schweine
        sheep | das Schaf | Schafe
        duck | die Ente | Enten
        mouse | die Maus | Mäuse
        rabbit | das Kaninchen | Kaninchen
        bear | der Bär | Bären | weak
        lion | der Löwe | Löwen | weak
        monkey | der Affe | Affen | weak
        elephant | der Elefant | Elefanten | weak
    """,
}

# english | article noun | plural | genitive note | where (English, German) | how one goes there in German
PLACES: dict[str, str] = {
    "sight": """
        museum | das Museum | Museen | Museums | in in | in
        theater | das Theater | Theater | | in in | in
        cinema | das Kino | Kinos | | in in | in
        church | die Kirche | Kirchen | | in in | in
        castle | das Schloss | Schlösser | | in in | zu
        tower | der Turm | Türme | | at an | zu
        zoo | der Zoo | Zoos | Zoos | in in | in
        library | die Bibliothek | Bibliotheken | | in in | in
        park | der Park | Parks | Parks | in in | in
        market | der Markt | Märkte | | at auf | auf
        stadium | das Stadion | Stadien | Stadions | in in | in
        town hall | das Rathaus | Rathäuser | | in in | zu
    """,
    "business": """
        restaurant | das Restaurant | Restaurants | | in in | in
        café | das Café | Cafés | Cafés | in in | in
        hotel | das Hotel | Hotels | | in in | in
        supermarket | der Supermarkt | Supermärkte | | in in | in
        bakery | die Bäckerei | Bäckereien | | in in | zu
        pharmacy | die Apotheke | Apotheken | | in in | zu
        bookstore | die Buchhandlung | Buchhandlungen | | in in | in
        bank | die Bank | Banken | | at in | zu
        post office | die Post | Postämter | | at auf | zu
        department store | das Kaufhaus | Kaufhäuser | | in in | in
        gas station | die Tankstelle | Tankstellen | | at an | zu
        swimming pool | das Schwimmbad | Schwimmbäder | | in in | in
    """,
    "public": """
        train station | der Bahnhof | Bahnhöfe | Bahnhofs | at an | zu
        airport | der Flughafen | Flughäfen | | at an | zu
        bus stop | die Bushaltestelle | Bushaltestellen | | at an | zu
        hospital | das Krankenhaus | Krankenhäuser | | in in | in
        school | die Schule | Schulen | | in in | in
        university | die Universität | Universitäten | | at an | zu
        office | das Büro | Büros | | in in | in
        factory | die Fabrik | Fabriken | | in in | in
        parking lot | der Parkplatz | Parkplätze | | in auf | zu
        police station | die Polizeiwache | Polizeiwachen | | at auf | zu
        harbor | der Hafen | Häfen | | at an | zu
    """,
    "landscape": """
        city | die Stadt | Städte | | in in | in
        village | das Dorf | Dörfer | | in in | in
        garden | der Garten | Gärten | | in in | in
        forest | der Wald | Wälder | | in in | in
        beach | der Strand | Strände | | at an | an
        lake | der See | Seen | Sees | at an | an
        river | der Fluss | Flüsse | | at an | an
        street | die Straße | Straßen | | on auf | auf
        bridge | die Brücke | Brücken | | on auf | auf
        island | die Insel | Inseln | | on auf | auf
        mountain | der Berg | Berge | | on auf | auf
        square | der Platz | Plätze | | in auf | auf
    """,
}

# english | german | kind; Switzerland keeps its article
TOWNS = """
    Berlin | Berlin
    Munich | München
    Hamburg | Hamburg
    Cologne | Köln
    Frankfurt | Frankfurt
    Dresden | Dresden
    Leipzig | Leipzig
    Nuremberg | Nürnberg
    Vienna | Wien
    Zurich | Zürich
    Paris | Paris
    London | London
    Rome | Rom
    Madrid | Madrid
    Prague | Prag
    Warsaw | Warschau
    Brussels | Brüssel
    New York | New York
"""

COUNTRIES = """
    Germany | Deutschland
    Austria | Österreich
    France | Frankreich
    Italy | Italien
    Spain | Spanien
    Poland | Polen
    England | England
    Greece | Griechenland
    Sweden | Schweden
    Japan | Japan
    China | China
    Canada | Kanada
    Switzerland | die Schweiz
    Turkey | die Türkei
"""

LANGUAGES = """
    German | Deutsch
    English | Englisch
    French | Französisch
    Italian | Italienisch
    Spanish | Spanisch
    Polish | Polnisch
    Russian | Russisch
    Turkish | Türkisch
    Chinese | Chinesisch
    Japanese | Japanisch
"""

GIRLS = word_list("Anna Maria Julia Laura Lena Sophie Emma Claudia Sabine Petra Monika Katharina")
BOYS = word_list("Peter Paul Michael David Stefan Martin Daniel Jan Simon Oliver Robert Christian")
SURNAMES = word_list("Schmidt Müller Weber Fischer Wagner Becker Hoffmann Koch Richter Klein Wolf Braun")
