"""Writes fixture.json: what scikit-learn and Python make of the documents below.

    python3 tests/data/make_fixture.py > tests/data/fixture.json      (Debian: python3-sklearn)

The tests read the file only; they need neither.
"""

import json
import re

import sklearn
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

LATIN1 = {
    "train": [
        "The cat's whiskers: the CAT sat; the mat_2 sat on the cat!",
        "École, ÉCOLE et école à côté de l'été; Straße STRASSE",
        "x y z a1 1a 42 007 3.14 don't DON'T __init__ _",
        "²³ ½¼ µm ªº ×÷ ÿÿ ÞÐ þð naïve\xa0café \xad soft\xadly «mot»",
        "",
        "From: me@here.org\nSubject: Re: cat, cat, mat\n\n> Whereas the amoungst, thereupon!\r\n\tbecause cat",
    ],
    "test": [
        "an unseen word and the cat, école",
        "...",
        "mat mat mat sat 42 \x00nul\x01 cat\x7fcat",
        "only novelties hereby",
    ],
}
UTF8 = {
    "train": [
        "ΟΔΥΣΣΕΥΣ Ὀδυσσεύς όδος ΣΑΣ Σ ΑΣ' ΑΣ'Α — “quoted” text…",
        "Привет, МИР! привет мир ЁЛКА ёлка; мир, мир, Привет",
        "İstanbul ISTANBUL ıstanbul ﬁne straße ẞß Ⱥb ȺB",
        "數學 数学很好 ひらがな カタカナ 한국어 ٣٤٥ १२३",
        "e\u0301cole école 𝐀𝐁 𐐀𐐨 🎉party🎉 a\u200db K\u212a",
    ],
    "test": ["мир и ОДОС οδος", "école 𐐨𐐨 unseen"],
}
# Terms at the limits of max_features below are no ties: which of them scikit-learn keeps is up to NumPy's sort.
WORDS = sorted({*LATIN1["train"], *LATIN1["test"], *UTF8["train"], *UTF8["test"]})

CASES = [
    ({"weights": "counts", "normalise": False}, lambda: CountVectorizer()),
    ({"weights": "counts"}, lambda: make_pipeline(CountVectorizer(), Normalise())),
    ({}, lambda: TfidfVectorizer()),
    ({"normalise": False}, lambda: TfidfVectorizer(norm=None)),
    ({"stop_words": "english"}, lambda: TfidfVectorizer(stop_words="english")),
    ({"max_features": 2}, lambda: TfidfVectorizer(max_features=2)),
    ({"max_features": 1000}, lambda: TfidfVectorizer(max_features=1000)),
    ({"weights": "counts", "hash_bits": 18}, lambda: HashingVectorizer(n_features=2**18)),
    ({"weights": "counts", "hash_bits": 3}, lambda: HashingVectorizer(n_features=2**3)),
    ({"weights": "counts", "hash_bits": 3, "normalise": False}, lambda: HashingVectorizer(n_features=2**3, norm=None)),
    (
        {"hash_bits": 4, "stop_words": "english"},
        lambda: make_pipeline(HashingVectorizer(n_features=2**4, norm=None, stop_words="english"), TfidfTransformer()),
    ),
]


class Normalise:
    def fit(self, rows, _=None):
        return self

    def transform(self, rows):
        return normalize(rows.astype(float))


def rows(matrix):
    """Columns and values of each row."""
    matrix = matrix.tocsr().astype(float)
    matrix.sort_indices()
    parts = [slice(*matrix.indptr[i : i + 2]) for i in range(matrix.shape[0])]
    return [[matrix.indices[part].tolist(), matrix.data[part].tolist()] for part in parts]


def case(corpus, documents, options, model):
    model = model()
    train, test = rows(model.fit_transform(documents["train"])), rows(model.transform(documents["test"]))
    counter = model[0] if hasattr(model, "steps") else model
    vocabulary = [] if "hash_bits" in options else counter.get_feature_names_out().tolist()
    return {"corpus": corpus, "options": options, "vocabulary": vocabulary, "train": train, "test": test}


def words(text):
    return re.findall(r"(?u)\b\w\w+\b", text.lower())


def checksum(text, so_far):
    """FNV-1a, as in src/data/checksum.hpp."""
    for byte in text.encode():
        so_far = ((so_far ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return so_far


def every_character():
    """A checksum over the words of a text about each code point: alone between letters, and around a capital sigma."""
    so_far = 0xCBF29CE484222325
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000:
            c = chr(code)
            so_far = checksum("\n".join(words(f"a{c}b A{c}Σ {c}Σ A{c}Σ{c}b {c}{c}")) + "\n", so_far)
    return so_far


print(
    json.dumps(
        {
            "made_with": f"scikit-learn {sklearn.__version__}",
            "documents": {"latin1": LATIN1, "utf8": UTF8},
            "words": [[text, words(text)] for text in WORDS],
            "every_character": f"{every_character():016x}",
            "cases": [
                case(corpus, documents, *it)
                for corpus, documents in (("latin1", LATIN1), ("utf8", UTF8))
                for it in CASES
            ],
        },
        indent=None,
        separators=(",", ":"),
    ).replace('{"corpus"', '\n{"corpus"')
)
