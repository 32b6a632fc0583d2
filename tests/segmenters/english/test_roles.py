import pytest

from attribution.segmenters.english.roles import fault

HART = "Lena Hart, a local architect, rebuilt the museum in 1921."
REED = "Tom Reed studied law at Leeds and was born in Lima."
CLUB = "Founded in 1901, the club won its first title in 1933 and moved to a new ground in 1950."
STERN = "Paul Stern, a French painter, married the singer Ida Lund in Oslo."
PUMPS = "The company, which makes pumps, bought its rival Kern in 2003."
BRIDGE = "The bridge was designed by Ove Berg and opened by the king in 1932."
COMET = "The comet was discovered independently by Hale in New Mexico and by Bopp in Arizona."


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        (HART, "Lena Hart rebuilt the museum in 1921."),
        (HART, "Lena Hart was an architect."),
        (HART, "The museum was rebuilt by Lena Hart."),
        (REED, "Tom Reed was born in Lima."),
        (CLUB, "The club was founded in 1901."),
        (CLUB, "The club moved to a new ground in 1950."),
        (STERN, "Paul Stern was French."),
        (STERN, "Ida Lund was a singer."),
        (PUMPS, "The company makes pumps."),
        (BRIDGE, "The king opened the bridge."),
        (
            "Guests can choose soup, salad, or bread with the meal.",
            "Guests can choose soup, salad, or bread.",
        ),
        (
            "The minister denied that he had taken money.",
            "The minister denied that he had taken money.",
        ),
        (
            "The report says that the firm hid losses from its owners.",
            "The report says that the firm hid losses.",
        ),
        (
            "The use of salt can harm roads and is banned in most towns.",
            "The use of salt is banned in most towns.",
        ),
        (
            "Tarn lamps, which are a kind of gas light, were sold in Oslo.",
            "Tarn lamps are a kind of gas light.",
        ),
        (
            "Infections may cause changes in mood, such as confusion or grief.",
            "Infections may cause confusion.",
        ),
        (
            "When it snows, it is wise to check the roof and the walls.",
            "When it snows, it is wise to check the roof.",
        ),
        (
            "Clara Voss, a Danish chemist born in Aarhus, discovered the salt in 1911.",
            "Clara Voss was born in Aarhus.",
        ),
        (
            "Maria Lund married the pilot Erik Dahl in Bergen in 1934.",
            "Maria Lund married Erik Dahl.",
        ),
        (
            "Most ferns need shade and moist soil, although a few species tolerate full sun.",
            "Most ferns need shade.",
        ),
        (COMET, "Bopp discovered the comet in Arizona."),
        (
            "The bridge at Sorne, built by prisoners in the war, fell.",
            "The bridge at Sorne was built by prisoners.",
        ),
        (
            "Rosa Perez bought a vineyard near Mendoza, where she still lives.",
            "Rosa Perez still lives near Mendoza.",
        ),
        (
            "Neither the mayor nor her deputy attended the opening.",
            "The mayor did not attend the opening.",
        ),
        (
            "The drug can cause nausea, especially when it is taken without food.",
            "The drug can cause nausea.",
        ),
        ("Lund refused to sell until the ice broke.", "The ice broke."),
        ("Lund refused to sell until the ice broke.", "Lund did not sell."),
        ("Moreau managed to leave the town in 1958.", "Moreau left the town in 1958."),
        (
            "Designed by the architect Ove Berg, the Tarn Opera House opened.",
            "Ove Berg designed the Tarn Opera House.",
        ),
        ("Lund sold the mill and toured Japan with it.", "Lund toured Japan with the mill."),
        (
            "The lizard drops its tail when it is seized.",
            "When it is seized, the lizard drops its tail.",
        ),
        (
            "The rot is spread either by rain or through seed.",
            "The rot spreads through either rain or seed.",
        ),
        ("The law no longer asks for an oath; a promise is enough.", "A promise is enough."),
        ("According to the mayor, the dam had burst.", "The mayor stated that the dam had burst."),
        ("When the duke abdicated, he left for Rome.", "The duke left for Rome."),
        (
            "Lund won the singles in 1934, and her sister Ruth the doubles.",
            "Lund's sister Ruth won the doubles.",
        ),
        ("Oskar Brink taught music to Rasa Holm.", "Rasa Holm was taught music by Oskar Brink."),
        (
            "The loss of the fort to the retreating army shocked Rome.",
            "The retreating army took the fort.",
        ),
        ("Built of reed, the huts have to be renewed.", "The huts are made of reed."),
        (
            "The vaccine lasts a decade, but children need another after five years.",
            "The vaccine lasts ten years.",
        ),
        (
            "The market hall, planned by Ove Berg and paid for by a bank, was opened.",
            "A bank paid for the market hall.",
        ),
        ("Sales rose, which is why the mill reopened.", "The mill reopened."),
        ("Having taught in Dakar, Rosa Lund moved to Graz.", "Rosa Lund taught in Dakar."),
        ("Both sons joined the navy, and the elder, Harald, drowned.", "Harald drowned."),
        ("No one knows who sold it, although a deed names Lund.", "A deed names Lund."),
        ("In May, the mill was sold; its staff left.", "In May, the mill was sold."),
        ("Lund played the fool in Oslo and played the king in Rome.", "Lund also played the king."),
    ],
)
def test_a_claim_that_its_sentence_makes_has_no_fault(sentence: str, claim: str) -> None:
    assert fault(sentence, claim) == ""


@pytest.mark.parametrize(
    ("sentence", "claim", "found"),
    [
        (HART, "The museum rebuilt Lena Hart in 1921.", "another role"),
        (HART, "Lena Hart was rebuilt in 1921.", "another role"),
        (HART, "The architect a local museum Hart.", "no sentence"),
        (REED, "Tom Reed was born at Leeds.", "another role"),
        (CLUB, "The title was founded in 1901.", "another role"),
        (CLUB, "The club moved to a new ground in 1933.", "another role"),
        (STERN, "Ida Lund was a French painter.", "another role"),
        (STERN, "Paul Stern was a singer.", "another role"),
        (STERN, "Married the singer in Oslo.", "no sentence"),
        ("The dough rests before it rises.", "Before it rises.", "no sentence"),
        (
            "Ruth Amsel's husband mapped the glacier and drowned in 1931.",
            "Ruth Amsel drowned in 1931.",
            "another role",
        ),
        (COMET, "Hale discovered the comet in Arizona.", "another role"),
        (PUMPS, "Kern bought the company in 2003.", "another role"),
        (PUMPS, "Which makes pumps the company.", "no sentence"),
        (BRIDGE, "The king was opened by the bridge.", "another role"),
        (BRIDGE, "Ove Berg opened the bridge in 1932.", "another role"),
        (
            "The drug may cause itching, fever, or nausea.",
            "The drug may cause itching and fever.",
            "leaves out “or”",
        ),
        (
            "The statue is made of copper or bronze.",
            "The statue is made of copper.",
            "leaves out “or”",
        ),
        ("It is unlikely that the comet will return.", "The comet will return.", "leaves out"),
        ("If the river rises, the gate closes.", "The gate closes.", "leaves out “if”"),
        ("The town had no mill until 1884.", "The town had a mill until 1884.", "leaves out “no”"),
        ("Some lilies are toxic to cats.", "All lilies are toxic to cats.", "adds “all”"),
        (BRIDGE, "The bridge was opened was in 1932.", "no sentence"),
        (BRIDGE, "The king opened the.", "no sentence"),
        ("Lund refused to sell the mill.", "Lund sold the mill.", "leaves out “refused”"),
        ("The gate closed, the mayor told the court.", "The gate closed.", "leaves out “told”"),
        (
            "Had the duke got the letter, he would have left.",
            "The duke got the letter.",
            "leaves out",
        ),
        (
            "Lund left it to Holm, with whom he had quarrelled over the mill.",
            "Lund had quarrelled with whom over.",
            "no",
        ),
        (
            "The vaccine protects against measles, mumps and rubella.",
            "The vaccine protects is against mumps.",
            "no",
        ),
        (
            "The sculptor cast the horses in bronze and shipped them to Riga.",
            "The sculptor cast shipped them.",
            "no",
        ),
        ("Lund rode with Holm over the pass to Tarn.", "Lund rode with Holm over.", "no sentence"),
        ("The Danish wife of the British envoy left.", "The envoy was Danish.", "another role"),
    ],
)
def test_what_is_wrong_with_a_claim(sentence: str, claim: str, found: str) -> None:
    assert fault(sentence, claim).startswith(found)
