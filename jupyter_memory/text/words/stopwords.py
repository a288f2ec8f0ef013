"""Words that say nothing about what someone searches for, by language."""

from __future__ import annotations

STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "above",
        "after",
        "again",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "aren't",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "below",
        "between",
        "both",
        "but",
        "by",
        "can",
        "can't",
        "cannot",
        "could",
        "couldn't",
        "did",
        "didn't",
        "do",
        "does",
        "doesn't",
        "doing",
        "don't",
        "down",
        "during",
        "each",
        "few",
        "for",
        "from",
        "further",
        "had",
        "hadn't",
        "has",
        "hasn't",
        "have",
        "haven't",
        "having",
        "he",
        "her",
        "here",
        "hers",
        "herself",
        "him",
        "himself",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "isn't",
        "it",
        "its",
        "itself",
        "just",
        "let's",
        "me",
        "more",
        "most",
        "my",
        "myself",
        "no",
        "nor",
        "not",
        "of",
        "off",
        "on",
        "once",
        "only",
        "or",
        "other",
        "our",
        "ours",
        "ourselves",
        "out",
        "over",
        "own",
        "same",
        "she",
        "should",
        "shouldn't",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "theirs",
        "them",
        "themselves",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "under",
        "until",
        "up",
        "very",
        "was",
        "wasn't",
        "we",
        "were",
        "weren't",
        "what",
        "what's",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "why",
        "will",
        "with",
        "won't",
        "would",
        "wouldn't",
        "you",
        "your",
        "yours",
        "yourself",
        "yourselves",
    ]
)


def listed(text: str) -> frozenset[str]:
    """Return the words of a text, separated by blanks."""
    return frozenset(text.split())


GERMAN = listed(
    """
    aber alle allem allen aller alles als also am an andere anderen anderer anderes auch auf aus bei beim bin
    bis bist da dabei dadurch dafür daher damit dann daran darauf daraus darin das dass daß davon dazu dein
    deine dem den denn der deren des deshalb dessen die dies diese diesem diesen dieser dieses doch dort du
    durch ein eine einem einen einer eines einige er es etwas euch euer für gab gegen gibt habe haben hat hatte
    hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden
    jeder jedes jetzt kann kein keine keinem keinen keiner können könnte machen macht man manche mein meine
    meinem meinen meiner mich mir mit muss müssen nach nicht nichts noch nun nur ob oder ohne sehr sein seine
    seinem seinen seiner seit sich sie sind so soll sollen sollte sondern sonst über um und uns unser unsere
    unserem unseren unserer unter viel vom von vor wann war waren warum was weil welche welchem welchen welcher
    welches wem wen wenn wer werde werden wessen weshalb wie wieder wieso wieviel will wir wird wo wobei wodurch
    wofür woher wohin womit worden wurde wurden zu zum zur zwar zwischen
    """
)
FRENCH = listed(
    """
    afin ai aucun aucune aussi autre autres aux avait avec avez avoir avons avaient ayant bien car ce ceci cela
    celle celles celui ces cet cette ceux chaque chez combien comme comment dans de depuis des donc dont du elle
    elles en encore entre est et étaient était étant été êtes être eu eux fait faire faut fut furent il ils je
    jusque la là laquelle le lequel les lesquels leur leurs lorsque lui ma mais me même mes moi mon ne ni nos
    notre nous on ont ou où par parce pas peu peut plus pour pourquoi puis puisque quand que quel quelle quelles
    quels qui quoi sa sans se selon sera seront ses si soit sommes son sont sous suis sur ta te tes toi ton tous
    tout toute toutes très trop tu un une vers voici vos votre vous
    """
)
SPANISH = listed(
    """
    al algo algún alguna algunas alguno algunos ante antes aquel aquella aquellas aquello aquellos aquí así aun
    aún aunque cada como cómo con contra cual cuál cuáles cuales cuando cuándo cuanta cuánta cuántas cuanto
    cuánto cuántos de del desde después donde dónde dos durante el él ella ellas ellos en entonces entre era
    eran es esa esas ese eso esos esta está están estaba estaban estamos estas este esto estos estoy fue fueron
    ha había habían hace hacemos hacen hacer han hasta hay hemos hizo la las le les lo los mas más me mi mis
    mientras muy nada ni ningún ninguna no nos nosotros nuestra nuestras nuestro nuestros o os otra otras otro
    otros para pero poco por porque puede pueden pues que qué quien quién quienes quiénes se sea según ser sí
    sido sin sino sobre sois somos son soy su sus también tan tanto te tenemos tener tenía tiene tienen toda
    todas todavía todo todos tras tu tus un una unas uno unos usted ustedes vosotros y ya yo
    """
)
