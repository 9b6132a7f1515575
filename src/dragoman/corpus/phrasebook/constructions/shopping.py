"""Constructions: café and restaurant, likes and wishes, prices, the shop.

At the bar every drink is countable ("a coffee"); elsewhere it is not. "Would like" with a thing is "hätte gern".
"""

from dragoman.corpus.phrasebook import english, grammar
from dragoman.corpus.phrasebook.constructions.register import construction
from dragoman.corpus.phrasebook.fillers import (
    ACTIONS,
    DELIBERATE_ALONE,
    DESCRIBED_ACTIONS,
    DESCRIBED_THINGS,
    KIN,
    OPENERS,
    PEOPLE,
    SPEAKERS,
    Action,
    Described,
    DescribedAction,
    Together,
    together,
)
from dragoman.corpus.phrasebook.grammar import (
    BARE,
    HAETTE,
    HAT,
    NO,
    PRONOUNS,
    THE,
    THESE,
    THIS,
    WANT_TO,
    A,
    Determiner,
    Pair,
    Phrase,
    alone,
    ask,
    be,
    do,
    in_perfect,
    in_present,
    main,
    natural,
    past,
    phrase,
    present,
    say,
)
from dragoman.corpus.phrasebook.lexicon import Noun, Verb, nouns
from dragoman.corpus.phrasebook.lexicon.adverbials import Adverbial
from dragoman.corpus.phrasebook.lexicon.numbers import english_number, german_number, prices

MAG = ("mag", "mag", "mögen")
DRINKS = nouns("+drink")
COLORS = (
    ("red", "Rot"), ("blue", "Blau"), ("green", "Grün"), ("yellow", "Gelb"), ("black", "Schwarz"), ("white", "Weiß"),
    ("brown", "Braun"),
)  # fmt: skip
GOODS = nouns(
    "+clothing +device +portable +standing +furniture +vehicle +instrument +flower +dish book newspaper ticket map"
)
TASTES = (
    ("delicious", "lecker"), ("very good", "sehr gut"), ("too salty", "zu salzig"),
    ("excellent", "ausgezeichnet"), ("too sweet", "zu süß"),
)  # fmt: skip
PORTIONS = (
    ("a cup of coffee", "eine Tasse Kaffee"), ("a cup of tea", "eine Tasse Tee"),
    ("a glass of water", "ein Glas Wasser"),
    ("a glass of red wine", "ein Glas Rotwein"), ("a glass of white wine", "ein Glas Weißwein"),
    ("a glass of milk", "ein Glas Milch"),
    ("a bottle of water", "eine Flasche Wasser"), ("a bottle of beer", "eine Flasche Bier"),
    ("a piece of cake", "ein Stück Kuchen"),
    ("a slice of bread", "eine Scheibe Brot"), ("a glass of apple juice", "ein Glas Apfelsaft"),
    ("a pot of tea", "eine Kanne Tee"),
)  # fmt: skip
MEALS = nouns("soup salad pizza steak pancake sandwich sausage ice_cream") + DRINKS
ORDERS = tuple((english.with_article(noun.english), phrase(A, noun).acc) for noun in MEALS) + PORTIONS
MEAL_PAIRS = tuple(together(a, b, *sorted((a[0], b[0]))) for a in ORDERS for b in ORDERS if a is not b)
DRINK_PAIRS = tuple(
    Together(one, other, ((one.english, other.english), ("drink", one.english), ("drink", other.english)))
    for one in DRINKS
    for other in DRINKS
    if one is not other
)
LIKED = tuple(together("like", noun, "like", noun.english) for noun in nouns("+dish +grocery +drink +animal music"))
WANTED = tuple(
    together("want", noun, "want", noun.english)
    for noun in nouns("+dish +clothing +device +portable +vehicle dog cat horse rabbit")
)
OFFERS = tuple(
    Together(noun, price, ((noun.english, price[0]), ("pay for", noun.english))) for noun in GOODS for price in prices()
)
TASTED = tuple(
    together("taste", noun, "taste", noun.english) for noun in nouns("+dish bread cheese meat ham ice_cream")
)
COLORED = tuple(
    Together(noun, color, (("look for", noun.english), (color[0], noun.english)))
    for noun in nouns("+clothing")
    for color in COLORS
)
FAULTS = (("big", "groß"), ("small", "klein"), ("long", "lang"), ("short", "kurz"), ("expensive", "teuer"))
ILL_FITTING = tuple(together(noun, fault, fault[0], noun.english) for noun in nouns("+clothing") for fault in FAULTS)
SOUGHT_DESCRIBED = tuple(
    one
    for one in DESCRIBED_ACTIONS
    if one.action.verb.english == "look for" and one.adjective.english not in ("wrong", "dirty", "broken", "bad")
)
COUNTED = tuple(
    act for act in ACTIONS if act.verb.english in ("buy", "need", "have", "sell", "eat") and not act.noun.is_mass
)
GIFTS_BOUGHT = tuple(act for act in ACTIONS if act.verb.english in ("buy", "look for", "bake", "cook", "order", "read"))


# Café and restaurant


@construction(SPEAKERS, ORDERS, ("would like", "'d like"), (("", ""), (", please", ", bitte")))
def orders_one(who: Phrase, dish: Adverbial, would_like: str, please: Adverbial) -> Pair | None:
    if would_like == "'d like" and who not in PRONOUNS:
        return None
    space = "" if would_like == "'d like" else " "
    return say(
        f"{who.english}{space}{would_like} {dish[0]}{please[0]}",
        f"{who.nom} {HAETTE[who.agreement]} gern {dish[1]}{please[1]}",
    )


@construction(
    MEAL_PAIRS,
    (("", ""), ("I would like ", "ich hätte gern "), ("we would like ", "wir hätten gern "), ("for me, ", "für mich ")),
)
def orders_two(order: Together[Adverbial, Adverbial], opener: Adverbial) -> Pair:
    return say(
        f"{opener[0]}{order.first[0]} and {order.second[0]}, please",
        f"{opener[1]}{order.first[1]} und {order.second[1]}, bitte",
    )


REQUESTS = (
    ("can I have {}, please", "kann ich bitte {} haben"),
    ("could I have {}, please", "könnte ich bitte {} haben"),
    ("could we have {}, please", "könnten wir bitte {} haben"),
    ("can you bring me {}, please", "können Sie mir bitte {} bringen"),
    ("could you bring us {}, please", "könnten Sie uns bitte {} bringen"),
)
REQUESTED = (
    *(together(noun, phrase(A, noun).acc, "bring", noun.english) for noun in MEALS),
    *(together(noun, phrase(THE, noun).acc, "bring", noun.english) for noun in nouns("bill menu key")),
)


@construction(OPENERS, REQUESTS, REQUESTED)
def requests_dish(opener: Adverbial, request: Adverbial, dish: Together[Noun, str]) -> Pair:
    name = dish.first.english
    in_english = english.with_article(name) if dish.first in MEALS else f"the {name}"
    return ask(opener[0] + request[0].format(in_english), opener[1] + request[1].format(dish.second))


@construction(OPENERS, REQUESTS, PORTIONS)
def requests_portion(opener: Adverbial, request: Adverbial, portion: Adverbial) -> Pair:
    return ask(opener[0] + request[0].format(portion[0]), opener[1] + request[1].format(portion[1]))


@construction(
    nouns("coffee tea hot_chocolate"),
    (("with", "mit"), ("without", "ohne")),
    nouns("milk sugar honey"),
    (("", ""), (", please", ", bitte")),
    (
        ("", ""),
        ("I would like ", "ich hätte gern "),
        ("she would like ", "sie hätte gern "),
        ("we'd like ", "wir hätten gern "),
    ),
)
def coffee_with(drink: Noun, link: Adverbial, extra: Noun, please: Adverbial, opener: Adverbial) -> Pair:
    return say(
        f"{opener[0]}{english.with_article(drink.english)} {link[0]} {extra.english}{please[0]}",
        f"{opener[1]}{phrase(A, drink).acc} {link[1]} {extra.german}{please[1]}",
    )


@construction(("tastes", "tasted"), TASTED, TASTES, (THE, THIS))
def tastes(verb: str, tasted: Together[str, Noun], taste: Adverbial, determiner: Determiner) -> Pair:
    thing = natural(determiner, tasted.second)
    if verb == "tasted":
        return say(f"{thing.english} tasted {taste[0]}", f"{thing.nom} {HAT[thing.agreement]} {taste[1]} geschmeckt")
    taste_english, schmeckt = ("tastes", "schmeckt") if thing.agreement == 1 else ("taste", "schmecken")
    return say(f"{thing.english} {taste_english} {taste[0]}", f"{thing.nom} {schmeckt} {taste[1]}")


# Likes and wishes


def _kind(noun: Noun, determiner: Determiner = BARE) -> Phrase:
    """A kind of thing in general: coffee, apples."""
    return phrase(determiner, noun, None, not noun.is_mass)


@construction(PEOPLE, LIKED)
def likes(who: Phrase, liking: Together[str, Noun]) -> Pair:
    things = _kind(liking.second)
    like = "likes" if who.agreement == 1 else "like"
    return say(f"{who.english} {like} {things.english}", f"{who.nom} {MAG[who.agreement]} {things.acc}")


@construction(PEOPLE, LIKED, (" not", "n't"))
def likes_not(who: Phrase, liking: Together[str, Noun], not_: str) -> Pair:
    things, nothing = _kind(liking.second), _kind(liking.second, NO)
    return say(f"{who.english} {do(who)}{not_} like {things.english}", f"{who.nom} {MAG[who.agreement]} {nothing.acc}")


@construction(PEOPLE, LIKED)
def asks_likes(who: Phrase, liking: Together[str, Noun]) -> Pair:
    things = _kind(liking.second)
    return ask(f"{do(who)} {who.english} like {things.english}", f"{MAG[who.agreement]} {who.nom} {things.acc}")


@construction(PEOPLE, WANTED, (THE, A, THIS))
def wants_thing(who: Phrase, wish: Together[str, Noun], determiner: Determiner) -> Pair:
    thing = grammar.indefinite(wish.second) if determiner is A else natural(determiner, wish.second)
    want = "wants" if who.agreement == 1 else "want"
    return say(f"{who.english} {want} {thing.english}", f"{who.nom} {WANT_TO.german[who.agreement]} {thing.acc} haben")


@construction(PEOPLE, DRINK_PAIRS, ("prefers", "would rather drink"))
def prefers(who: Phrase, drinks: Together[Noun, Noun], verb: str) -> Pair:
    one, other = drinks.first, drinks.second
    if verb == "prefers":
        prefer = "prefers" if who.agreement == 1 else "prefer"
        return say(
            f"{who.english} {prefer} {one.english} to {other.english}",
            f"{who.nom} {MAG[who.agreement]} lieber {one.german} als {other.german}",
        )
    return say(
        f"{who.english} would rather drink {one.english} than {other.english}",
        f"{who.nom} {grammar.WUERDE[who.agreement]} lieber {one.german} als {other.german} trinken",
    )


@construction(PEOPLE, tuple(verb for verb in DELIBERATE_ALONE if not verb.is_reflexive), ("likes", "does not like"))
def likes_doing(who: Phrase, verb: Verb, style: str) -> Pair:
    """English "like to" is the German adverb gern."""
    doing = alone(verb)
    if style == "likes":
        like = "likes" if who.agreement == 1 else "like"
        return say(f"{who.english} {like} to {verb.english}", main(who, doing, in_present, nicht="gern"))
    return say(f"{who.english} {do(who)} not like to {verb.english}", main(who, doing, in_present, nicht="nicht gern"))


# Shop


@construction(OPENERS, (THE, THIS), GOODS)
def how_much_costs(opener: Adverbial, determiner: Determiner, noun: Noun) -> Pair:
    thing = phrase(determiner, noun)
    return ask(f"{opener[0]}how much does {thing.english} cost", f"{opener[1]}wie viel kostet {thing.nom}")


@construction(OPENERS, (THE, THESE), GOODS, ("how much do {} cost", "how much are {}"))
def how_much_cost(opener: Adverbial, determiner: Determiner, noun: Noun, frame: str) -> Pair:
    things = phrase(determiner, noun, None, True)
    return ask(opener[0] + frame.format(things.english), f"{opener[1]}wie viel kosten {things.nom}")


@construction((THE, THIS), OFFERS)
def costs(determiner: Determiner, offer: Together[Noun, Adverbial]) -> Pair:
    thing, price = phrase(determiner, offer.first), offer.second
    return say(f"{thing.english} costs {price[0]}", f"{thing.nom} kostet {price[1]}")


@construction(PEOPLE, OFFERS)
def paid_for(who: Phrase, offer: Together[Noun, Adverbial]) -> Pair:
    thing, price = phrase(THE, offer.first), offer.second
    return say(
        f"{who.english} paid {price[0]} for {thing.english}",
        f"{who.nom} {HAT[who.agreement]} {price[1]} für {thing.acc} bezahlt",
    )


@construction(OPENERS, COLORED, (("do you have", "haben Sie", "?"), ("I am looking for", "ich suche", ".")))
def in_color(opener: Adverbial, colored: Together[Noun, Adverbial], frame: tuple[str, str, str]) -> Pair:
    noun, color = colored.first, colored.second
    thing = natural(THIS, noun) if frame[2] == "?" else grammar.indefinite(noun)
    return say(
        f"{opener[0]}{frame[0]} {thing.english} in {color[0]}",
        f"{opener[1]}{frame[1]} {thing.acc} in {color[1]}",
        frame[2],
    )


@construction(OPENERS, SOUGHT_DESCRIBED, ("I am looking for", "I'm looking for"))
def seeks_described(opener: Adverbial, one: DescribedAction, frame: str) -> Pair:
    thing = grammar.indefinite(one.action.noun, one.adjective)
    return say(f"{opener[0]}{frame} {thing.english}", f"{opener[1]}ich suche {thing.acc}")


@construction(
    tuple(one for one in DESCRIBED_THINGS if one.noun in GOODS),
    (
        ("I'll take", "ich nehme"),
        ("I will take", "ich nehme"),
        ("we'll take", "wir nehmen"),
        ("we will take", "wir nehmen"),
    ),
)
def takes_described(one: Described, frame: Adverbial) -> Pair:
    thing = natural(THE, one.noun, one.adjective)
    return say(f"{frame[0]} {thing.english}", f"{frame[1]} {thing.acc}")


@construction(ILL_FITTING, PRONOUNS + KIN[:12], (THE, THIS))
def too_big_for(fit: Together[Noun, Adverbial], whom: Phrase, determiner: Determiner) -> Pair:
    """A thing is too something for someone: the German person is a dative before the adjective."""
    thing, fault = natural(determiner, fit.first), fit.second
    return say(
        f"{thing.english} {be(thing)} too {fault[0]} for {whom.as_object}",
        f"{thing.nom} {grammar.IST[thing.agreement]} {whom.dat} zu {fault[1]}",
    )


@construction(PEOPLE, range(2, 21), COUNTED, ("present", "past"))
def counts(who: Phrase, count: int, act: Action, tense: str) -> Pair | None:
    if act.verb.english == "have" and tense == "past":
        return None
    things = phrase(Determiner(english_number(count), "", german_number(count)), act.noun, None, True)
    doing = act.on(things)
    if tense == "past":
        return say(f"{who.english} {past(who, doing)}", main(who, doing, in_perfect))
    return say(f"{who.english} {present(who, doing)}", main(who, doing, in_present))


@construction(PEOPLE, GIFTS_BOUGHT, KIN[:18])
def done_for(who: Phrase, act: Action, whom: Phrase) -> Pair | None:
    """My aunt bought a coat for my sister."""
    if (who.noun is whom.noun and who.noun) or act.verb.english == "read":
        return None
    doing = act.on_a
    at_end = doing._replace(english_object=f"{doing.english_object} for {whom.english}", after_nicht=f"für {whom.acc}")
    return say(f"{who.english} {past(who, at_end)}", main(who, at_end, in_perfect))
