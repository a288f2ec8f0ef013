"""The weights of `auto` and the scale of its evidence: one linear sum for every kind of text and both sizes of model.

    score = WORDS * bm25
            + SEMANTIC_MARGIN * calibration * terms * z * |z|
            + MAX_SIM * max_sim
            + NEIGHBOUR * evidence of the better neighbour
            + SESSION * evidence of the best other memory of its session
            - QUESTION_PENALTY if it is a question itself
            - LENGTH_PENALTY * how far it is too short or too long
            - OWN_WORDS * how much more of the query its text lacks than the best cell, if it is a cell
            + BEST_PASSAGE * the cosine of its best passage, if it is of no session
            + TIME * how certain it is that the query means its time
            + TITLE if its title has every word of the query
            + TITLE_MATCH * how well the title of a note answers the query
            + DEFINES if it defines what the query names
            + FILE_STEM * how well the name of its file answers the query
            + DEFINED_NAMES * how much better than usual the best name that it defines does
            - ASIDE if its path is that of a test, an earlier version or the like, if it was run, or does the opposite
            + TIER / its tier: 1 if it is pinned, 2 for a file, 3 for a note, 4 or 5 for a run
            + RECENCY / (1 + its age in years)

The weights are fixed, but the evidence adapts to the store and the query. ``z`` is how far a cosine stands out from the
cosines of this query with the whole store. For a normal distribution, z² / 2 is about the information of such a value,
as idf is the information of a word: a retriever to which everything is about equally near decides nothing. BM25 grows
with the number of words in the query, so the other side grows with it. `search.confidence` measures how far the model
can be trusted in this store; where it can be trusted much, hubs count less. Where words do not help, the cells around a
cell and the best of its section speak for it. A neighbour's evidence comes from its words and its meaning. The
constants were chosen on judged sets of five kinds of text, with two models. A third more or less of the semantic margin
costs up to .02 nDCG@10; the session adds .01 where memories have one, and nothing elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping

WORDS = 0.05
SEMANTIC_MARGIN = 0.005
MAX_SIM = 1.2
# The weight of the hubness of a text, in a store where the model can be trusted fully.
HUBNESS = 0.4
NEIGHBOUR = 0.35
SESSION = 0.4
# The question penalty is subtracted from a memory that is a question; ln 2 times the length penalty from one that has
# half of sixteen words, or twice the usual length.
QUESTION_PENALTY = 0.25
LENGTH_PENALTY = 0.4
OWN_WORDS = 0.2
BEST_PASSAGE = 0.5
# Large enough that, if the query certainly names a time, memories from then rank above others that match about as well.
TIME = 1.5
# Of notes, of what a cell defines, and of files. What is called just what the query asks for counts as much as two
# words.
TITLE_MATCH = 0.5
DEFINES = 2.0
FILE_STEM = 0.5
DEFINED_NAMES = 1.0
ASIDE = 0.25
# What a title that holds the whole query, a pin or a file, and a fresh memory add: less than one more rare word.
TITLE, TIER, RECENCY = 0.15, 0.06, 0.05

# Columns of the keyword index.
COLUMNS: Mapping[str, float] = {"title": 2.0, "context": 1.0, "text": 1.0, "tags": 1.0, "ident": 0.5}
# How many memories each retriever returns: those that `MaxSim` compares. Where words help little, it is asked for twice
# as many (docs/quality.md).
POOL = 50
