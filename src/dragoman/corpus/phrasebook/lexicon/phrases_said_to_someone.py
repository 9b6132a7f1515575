"""Fixed phrases that one says to somebody, and to which a name can be added: greetings, thanks, requests, small talk.

Rows are `english | german`, with their punctuation.
"""

ADDRESSED = """
    Hello. | Hallo.
    Good morning. | Guten Morgen.
    Good afternoon. | Guten Tag.
    Good evening. | Guten Abend.
    Good night. | Gute Nacht.
    Goodbye. | Auf Wiedersehen.
    Bye. | Tschüss.
    See you later. | Bis später.
    See you soon. | Bis bald.
    See you tomorrow. | Bis morgen.
    See you on Monday. | Bis Montag.
    See you next week. | Bis nächste Woche.
    Welcome. | Herzlich willkommen.
    Welcome to Germany. | Willkommen in Deutschland.
    Thank you. | Danke.
    Thanks. | Danke.
    Thank you very much. | Vielen Dank.
    Thanks a lot. | Vielen Dank.
    Thank you for everything. | Danke für alles.
    Thank you for your visit. | Danke für Ihren Besuch.
    Thank you for coming. | Danke, dass Sie gekommen sind.
    You're welcome. | Gern geschehen.
    You are welcome. | Gern geschehen.
    No problem. | Kein Problem.
    Excuse me. | Entschuldigung.
    Sorry. | Entschuldigung.
    I'm sorry. | Es tut mir leid.
    I am sorry. | Es tut mir leid.
    I am very sorry. | Es tut mir sehr leid.
    That doesn't matter. | Das macht nichts.
    It doesn't matter. | Das macht nichts.
    Don't worry. | Machen Sie sich keine Sorgen.
    Yes, please. | Ja, bitte.
    No, thank you. | Nein, danke.
    No, thanks. | Nein, danke.
    Of course. | Natürlich.
    How are you? | Wie geht es Ihnen?
    How are you today? | Wie geht es Ihnen heute?
    How are you doing? | Wie geht es Ihnen?
    I'm fine, thank you. | Mir geht es gut, danke.
    I am fine, thank you. | Mir geht es gut, danke.
    I am fine. | Mir geht es gut.
    I'm fine. | Mir geht es gut.
    Very well, thank you. | Sehr gut, danke.
    Not so good. | Nicht so gut.
    And you? | Und Ihnen?
    What is your name? | Wie heißen Sie?
    What's your name? | Wie heißen Sie?
    Nice to meet you. | Freut mich, Sie kennenzulernen.
    It was nice to meet you. | Es war schön, Sie kennenzulernen.
    Where are you from? | Woher kommen Sie?
    Where do you come from? | Woher kommen Sie?
    Are you here on vacation? | Sind Sie im Urlaub hier?
    How long are you staying? | Wie lange bleiben Sie?
    Is this your first time in Germany? | Sind Sie zum ersten Mal in Deutschland?
    What do you do? | Was machen Sie beruflich?
    Have a nice day. | Einen schönen Tag noch.
    Have a nice evening. | Einen schönen Abend noch.
    Have a nice weekend. | Ein schönes Wochenende.
    Have a good trip. | Gute Reise.
    Have fun. | Viel Spaß.
    Good luck. | Viel Glück.
    Congratulations. | Herzlichen Glückwunsch.
    Happy birthday. | Alles Gute zum Geburtstag.
    Merry Christmas. | Frohe Weihnachten.
    Happy New Year. | Frohes neues Jahr.
    Happy Easter. | Frohe Ostern.
    Cheers. | Prost.
    Enjoy your meal. | Guten Appetit.
    Bless you. | Gesundheit.
    Get well soon. | Gute Besserung.
    All the best. | Alles Gute.
    Take care. | Passen Sie gut auf sich auf.
    Good idea. | Gute Idee.
    I don't understand. | Ich verstehe nicht.
    I do not understand. | Ich verstehe nicht.
    I don't understand you. | Ich verstehe Sie nicht.
    I understand. | Ich verstehe.
    Do you understand me? | Verstehen Sie mich?
    I don't know. | Ich weiß nicht.
    I do not know. | Ich weiß nicht.
    I know. | Ich weiß.
    I think so. | Ich glaube schon.
    I don't think so. | Ich glaube nicht.
    I hope so. | Ich hoffe es.
    You are right. | Sie haben recht.
    You're right. | Sie haben recht.
    That's right. | Das stimmt.
    That is right. | Das stimmt.
    That's not right. | Das stimmt nicht.
    I agree. | Ich bin einverstanden.
    I don't agree. | Ich bin nicht einverstanden.
    Can you help me? | Können Sie mir helfen?
    Can you help me, please? | Können Sie mir bitte helfen?
    Could you help me, please? | Könnten Sie mir bitte helfen?
    Can I help you? | Kann ich Ihnen helfen?
    How can I help you? | Wie kann ich Ihnen helfen?
    Please help me. | Bitte helfen Sie mir.
    Please speak more slowly. | Bitte sprechen Sie langsamer.
    Please speak slowly. | Bitte sprechen Sie langsam.
    Can you repeat that, please? | Können Sie das bitte wiederholen?
    Could you repeat that, please? | Könnten Sie das bitte wiederholen?
    Can you write that down, please? | Können Sie das bitte aufschreiben?
    What does that mean? | Was bedeutet das?
    What does this word mean? | Was bedeutet dieses Wort?
    How do you say that in German? | Wie sagt man das auf Deutsch?
    How do you spell that? | Wie schreibt man das?
    Please come in. | Bitte kommen Sie herein.
    Come in. | Kommen Sie herein.
    Please take a seat. | Bitte nehmen Sie Platz.
    Please sit down. | Bitte setzen Sie sich.
    Please wait a moment. | Bitte warten Sie einen Moment.
    Just a moment, please. | Einen Moment, bitte.
    One moment, please. | Einen Moment, bitte.
    Wait a moment. | Warten Sie einen Moment.
    Please follow me. | Bitte folgen Sie mir.
    Follow me, please. | Folgen Sie mir, bitte.
    Please call me tomorrow. | Bitte rufen Sie mich morgen an.
    Please call me. | Bitte rufen Sie mich an.
    Be careful. | Seien Sie vorsichtig.
    I'm coming. | Ich komme.
    I am coming. | Ich komme.
    I have to go now. | Ich muss jetzt gehen.
    Let's go. | Gehen wir.
    Where are you going? | Wohin gehen Sie?
    What are you doing? | Was machen Sie?
    What are you doing today? | Was machen Sie heute?
    What are you doing this evening? | Was machen Sie heute Abend?
    What are you looking for? | Was suchen Sie?
    What are you waiting for? | Worauf warten Sie?
    What are you thinking of? | Woran denken Sie?
    What are you talking about? | Worüber sprechen Sie?
    What happened? | Was ist passiert?
    What's wrong? | Was ist los?
    Are you ready? | Sind Sie fertig?
    Are you sure? | Sind Sie sicher?
    I am not sure. | Ich bin nicht sicher.
    I'm not sure. | Ich bin nicht sicher.
    Do you have time? | Haben Sie Zeit?
    Do you have time today? | Haben Sie heute Zeit?
    I don't have time. | Ich habe keine Zeit.
    I have no time. | Ich habe keine Zeit.
    I'm hungry. | Ich bin hungrig.
    I'm thirsty. | Ich bin durstig.
    I'm tired. | Ich bin müde.
    I'm cold. | Mir ist kalt.
    I am cold. | Mir ist kalt.
    I'm in a hurry. | Ich bin in Eile.
    I'm lost. | Ich habe mich verlaufen.
    I am lost. | Ich habe mich verlaufen.
    I feel sick. | Mir ist schlecht.
    I don't feel well. | Ich fühle mich nicht gut.
    I need a doctor. | Ich brauche einen Arzt.
    I need your help. | Ich brauche Ihre Hilfe.
    I love you. | Ich liebe Sie.
    I like it here. | Es gefällt mir hier.
    I like that. | Das gefällt mir.
    I don't like that. | Das gefällt mir nicht.
    I miss you. | Ich vermisse Sie.
    I believe you. | Ich glaube Ihnen.
    I am from England. | Ich komme aus England.
    I am here on vacation. | Ich bin im Urlaub hier.
    I am a tourist. | Ich bin Tourist.
    I don't speak German. | Ich spreche kein Deutsch.
    I speak only a little German. | Ich spreche nur wenig Deutsch.
    How long have you been learning German? | Wie lange lernen Sie schon Deutsch?
    How was your weekend? | Wie war Ihr Wochenende?
    How was your day? | Wie war Ihr Tag?
    How was your trip? | Wie war Ihre Reise?
    Did you sleep well? | Haben Sie gut geschlafen?
    Do you live here? | Wohnen Sie hier?
    Do you work here? | Arbeiten Sie hier?
    Are you married? | Sind Sie verheiratet?
    Do you have children? | Haben Sie Kinder?
    What time is it? | Wie spät ist es?
    What time is it, please? | Wie spät ist es, bitte?
    What day is today? | Welcher Tag ist heute?
    What do you mean? | Was meinen Sie?
    What do you think? | Was denken Sie?
    Why not? | Warum nicht?
    Maybe later. | Vielleicht später.
    Not yet. | Noch nicht.
    Of course not. | Natürlich nicht.
    With pleasure. | Mit Vergnügen.
    Me too. | Ich auch.
    Really? | Wirklich?
    Is everything okay? | Ist alles in Ordnung?
    Everything is okay. | Alles ist in Ordnung.
    Everything is fine. | Alles ist in Ordnung.
    Long time no see. | Lange nicht gesehen.
    Can I ask you something? | Kann ich Sie etwas fragen?
    May I ask you something? | Darf ich Sie etwas fragen?
    May I sit here? | Darf ich hier sitzen?
    May I smoke here? | Darf ich hier rauchen?
    Is this seat free? | Ist dieser Platz frei?
    Is this seat taken? | Ist dieser Platz besetzt?
    Do you have a moment? | Haben Sie einen Moment Zeit?
    Would you like something to drink? | Möchten Sie etwas trinken?
    Would you like something to eat? | Möchten Sie etwas essen?
    Would you like to dance? | Möchten Sie tanzen?
    What would you like? | Was möchten Sie?
    What would you like to drink? | Was möchten Sie trinken?
    What would you like to eat? | Was möchten Sie essen?
    What can you recommend? | Was können Sie empfehlen?
    Do you know a good restaurant? | Kennen Sie ein gutes Restaurant?
"""
