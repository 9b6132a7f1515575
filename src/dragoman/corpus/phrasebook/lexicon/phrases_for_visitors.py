"""Fixed phrases for visitors, said to nobody in particular: emergencies, the way, prices, the restaurant, signs.

Rows are `english | german`, with their punctuation.
"""

UNADDRESSED = """
    Yes. | Ja.
    No. | Nein.
    Please. | Bitte.
    Okay. | In Ordnung.
    Maybe. | Vielleicht.
    Never. | Nie.
    Always. | Immer.
    Help! | Hilfe!
    Fire! | Feuer!
    Stop! | Halt!
    Look out! | Vorsicht!
    Call the police! | Rufen Sie die Polizei!
    Please call the police. | Bitte rufen Sie die Polizei.
    Please call an ambulance. | Bitte rufen Sie einen Krankenwagen.
    Call an ambulance! | Rufen Sie einen Krankenwagen!
    Please call a doctor. | Bitte rufen Sie einen Arzt.
    Please call me a taxi. | Bitte rufen Sie mir ein Taxi.
    It is an emergency. | Es ist ein Notfall.
    This is an emergency. | Das ist ein Notfall.
    There was an accident. | Es gab einen Unfall.
    Someone has stolen my bag. | Jemand hat meine Tasche gestohlen.
    My bag was stolen. | Meine Tasche wurde gestohlen.
    My wallet was stolen. | Meine Brieftasche wurde gestohlen.
    My luggage is missing. | Mein Gepäck fehlt.
    My luggage has not arrived. | Mein Gepäck ist nicht angekommen.
    I have lost my passport. | Ich habe meinen Pass verloren.
    I have lost my key. | Ich habe meinen Schlüssel verloren.
    I missed my train. | Ich habe meinen Zug verpasst.
    I missed my flight. | Ich habe meinen Flug verpasst.
    Where is the toilet? | Wo ist die Toilette?
    Where is the restroom? | Wo ist die Toilette?
    Excuse me, where is the toilet? | Entschuldigung, wo ist die Toilette?
    Where are the toilets? | Wo sind die Toiletten?
    Where is the bathroom? | Wo ist das Badezimmer?
    Where is the exit? | Wo ist der Ausgang?
    Where is the entrance? | Wo ist der Eingang?
    Where is the elevator? | Wo ist der Aufzug?
    Where can I buy a ticket? | Wo kann ich eine Fahrkarte kaufen?
    Where can I buy tickets? | Wo kann ich Fahrkarten kaufen?
    Where can I pay? | Wo kann ich bezahlen?
    Where can I change money? | Wo kann ich Geld wechseln?
    Where can I park? | Wo kann ich parken?
    Where can I rent a car? | Wo kann ich ein Auto mieten?
    Where can I find a taxi? | Wo finde ich ein Taxi?
    How much is it? | Wie viel kostet es?
    How much is that? | Wie viel kostet das?
    How much is this? | Wie viel kostet das?
    How much does this cost? | Wie viel kostet das?
    How much does that cost? | Wie viel kostet das?
    How much does it cost? | Wie viel kostet es?
    That is too expensive. | Das ist zu teuer.
    That's too expensive. | Das ist zu teuer.
    That is cheap. | Das ist billig.
    That is very nice. | Das ist sehr schön.
    I'll take it. | Ich nehme es.
    I'll take this. | Ich nehme das.
    I am just looking. | Ich schaue mich nur um.
    I'm just looking. | Ich schaue mich nur um.
    Can I pay by credit card? | Kann ich mit Kreditkarte bezahlen?
    Can I pay with a credit card? | Kann ich mit Kreditkarte bezahlen?
    Can I pay in cash? | Kann ich bar bezahlen?
    Can I try this on? | Kann ich das anprobieren?
    Do you have this in a larger size? | Haben Sie das eine Nummer größer?
    Do you have this in a smaller size? | Haben Sie das eine Nummer kleiner?
    Do you have change? | Haben Sie Kleingeld?
    Keep the change. | Stimmt so.
    The bill, please. | Die Rechnung, bitte.
    The menu, please. | Die Speisekarte, bitte.
    We would like to pay. | Wir möchten bezahlen.
    I would like to pay. | Ich möchte bezahlen.
    I would like to order. | Ich möchte bestellen.
    We would like to order. | Wir möchten bestellen.
    Separate or together? | Getrennt oder zusammen?
    The food was very good. | Das Essen war sehr gut.
    The food was delicious. | Das Essen war lecker.
    I am a vegetarian. | Ich bin Vegetarier.
    I don't eat meat. | Ich esse kein Fleisch.
    Is breakfast included? | Ist das Frühstück inbegriffen?
    Is there internet here? | Gibt es hier Internet?
    What is the password? | Wie lautet das Passwort?
    I have a reservation. | Ich habe eine Reservierung.
    I don't have a reservation. | Ich habe keine Reservierung.
    Do you have a room free? | Haben Sie ein Zimmer frei?
    What time is breakfast? | Um wie viel Uhr gibt es Frühstück?
    What time do we have to leave? | Um wie viel Uhr müssen wir losfahren?
    I would like to check in. | Ich möchte einchecken.
    I would like to check out. | Ich möchte auschecken.
    The key, please. | Den Schlüssel, bitte.
    Does this bus go to the city center? | Fährt dieser Bus ins Stadtzentrum?
    Does this train go to the airport? | Fährt dieser Zug zum Flughafen?
    Is this the right way to the city center? | Ist das der richtige Weg ins Stadtzentrum?
    To the airport, please. | Zum Flughafen, bitte.
    To the train station, please. | Zum Bahnhof, bitte.
    To the hotel, please. | Zum Hotel, bitte.
    Please stop here. | Bitte halten Sie hier.
    Stop here, please. | Halten Sie hier, bitte.
    Do I have to change trains? | Muss ich umsteigen?
    Where do I have to change trains? | Wo muss ich umsteigen?
    Where do I have to get off? | Wo muss ich aussteigen?
    Which platform does the train leave from? | Von welchem Gleis fährt der Zug ab?
    How long does the trip take? | Wie lange dauert die Reise?
    How long does it take? | Wie lange dauert es?
    How long do we have to wait? | Wie lange müssen wir warten?
    How far is it? | Wie weit ist es?
    Is it far? | Ist es weit?
    It is not far. | Es ist nicht weit.
    Is it far from here? | Ist es weit von hier?
    Go straight ahead. | Gehen Sie geradeaus.
    Turn left. | Biegen Sie links ab.
    Turn right. | Biegen Sie rechts ab.
    It is on the left. | Es ist auf der linken Seite.
    It is on the right. | Es ist auf der rechten Seite.
    Can you show me that on the map? | Können Sie mir das auf dem Stadtplan zeigen?
    How is the weather? | Wie ist das Wetter?
    How is the weather today? | Wie ist das Wetter heute?
    What is the weather like? | Wie ist das Wetter?
    The weather is nice today. | Das Wetter ist heute schön.
    It is raining. | Es regnet.
    It's raining. | Es regnet.
    It is snowing. | Es schneit.
    The sun is shining. | Die Sonne scheint.
    It is very cold. | Es ist sehr kalt.
    It is late. | Es ist spät.
    It is too late. | Es ist zu spät.
    It is still early. | Es ist noch früh.
    It is my birthday today. | Ich habe heute Geburtstag.
    This is my wife. | Das ist meine Frau.
    This is my husband. | Das ist mein Mann.
    We are married. | Wir sind verheiratet.
    I have two children. | Ich habe zwei Kinder.
    I don't have any children. | Ich habe keine Kinder.
    What is that? | Was ist das?
    What is this? | Was ist das?
    Who is that? | Wer ist das?
    Who are you? | Wer sind Sie?
    Where is it? | Wo ist es?
    Where are we? | Wo sind wir?
    Where am I? | Wo bin ich?
    When? | Wann?
    Where? | Wo?
    Why? | Warum?
    Who? | Wer?
    How? | Wie?
    How much? | Wie viel?
    How many? | Wie viele?
    How long? | Wie lange?
    Which one? | Welches?
    It is here. | Es ist hier.
    It is there. | Es ist dort.
    That is good. | Das ist gut.
    That is bad. | Das ist schlecht.
    That is enough. | Das ist genug.
    That is impossible. | Das ist unmöglich.
    That is not true. | Das ist nicht wahr.
    It is not my fault. | Es ist nicht meine Schuld.
    I forgot it. | Ich habe es vergessen.
    I don't remember. | Ich erinnere mich nicht.
    I don't have any money. | Ich habe kein Geld.
    I have no money. | Ich habe kein Geld.
    Open. | Geöffnet.
    Closed. | Geschlossen.
    Entrance. | Eingang.
    Exit. | Ausgang.
    Emergency exit. | Notausgang.
    No smoking. | Rauchen verboten.
    Out of order. | Außer Betrieb.
    Sold out. | Ausverkauft.
    Push. | Drücken.
    Pull. | Ziehen.
    Ladies. | Damen.
    Gentlemen. | Herren.
    My head hurts a lot. | Mein Kopf tut sehr weh.
    Since when? | Seit wann?
    Where does it hurt? | Wo tut es weh?
    I have to see a doctor. | Ich muss zum Arzt.
    Is there a doctor here? | Gibt es hier einen Arzt?
    Which medicine do you take? | Welches Medikament nehmen Sie?
    I am pregnant. | Ich bin schwanger.
    The early bird catches the worm. | Morgenstund hat Gold im Mund.
    Practice makes perfect. | Übung macht den Meister.
    All good things come in threes. | Aller guten Dinge sind drei.
"""
