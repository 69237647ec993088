//! Finds the known word that a mistyped one probably means.

/// `; did you mean "WORD"?` with the known word nearest to `word`, or nothing if none is near.
pub fn hint(word: &str, known: &[impl AsRef<str>]) -> String {
    nearest(word, known).map(|found| format!("; did you mean {found:?}?")).unwrap_or_default()
}

/// The known word nearest to `word`, ignoring case; `None` if more than half of it would have to change.
pub(super) fn nearest<'a>(word: &str, known: &'a [impl AsRef<str>]) -> Option<&'a str> {
    // Far longer words are no typing errors, and the distance costs the product of the lengths.
    if word.len() > 64 {
        return None;
    }
    let lower = word.to_lowercase();
    known
        .iter()
        .map(AsRef::as_ref)
        .map(|candidate| {
            let fold = strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
            (fold, strsim::damerau_levenshtein(word, candidate), candidate)
        })
        .min_by_key(|(fold, exact, _)| (*fold, *exact))
        .filter(|(fold, _, candidate)| {
            2 * *fold <= candidate.chars().count().max(lower.chars().count()) && *fold < candidate.chars().count()
        })
        .map(|(_, _, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let known = ["duration", "radio", "nodes", "flows"];
        assert_eq!(nearest("flow", &known), Some("flows"));
        assert_eq!(nearest("Radio", &known), Some("radio"));
        assert_eq!(nearest("duratoin", &known), Some("duration"));
        assert_eq!(nearest("xyzzy", &known), None);
        assert_eq!(hint("node", &known), "; did you mean \"nodes\"?");
    }
}
