//! GF(2⁸) and polynomials over it: the Reed–Solomon code of RFC 5510, section 8.
//!
//! The code's generator matrix is V(k,k)⁻¹ V(k,n) with Vandermonde matrices of entries α^(i·j) (RFC 5510, section 8.2). That is:
//! symbol j is the value at α^j of the polynomial of degree below k that has the source symbols as its values at α⁰ to
//! α^(k−1). Encoding and decoding are thus the same: from the values at k points to those at others.

/// x⁸ + x⁴ + x³ + x² + 1, the primitive polynomial for symbols of 8 bits (RFC 5510, section 8.1).
const POLYNOMIAL: u16 = 0x11d;
/// Elements other than zero.
const ORDER: usize = 255;

const TABLES: ([u8; 2 * ORDER], [u8; ORDER + 1]) = {
    let (mut powers, mut logarithms) = ([0; 2 * ORDER], [0; ORDER + 1]);
    let (mut power, mut exponent) = (1_u16, 0);
    while exponent < ORDER {
        powers[exponent] = power as u8;
        powers[exponent + ORDER] = power as u8;
        logarithms[power as usize] = exponent as u8;
        power <<= 1;
        if power & 0x100 != 0 {
            power ^= POLYNOMIAL;
        }
        exponent += 1;
    }
    (powers, logarithms)
};
/// α^i, twice over, so that a sum of two logarithms is an index.
static POWERS: [u8; 2 * ORDER] = TABLES.0;
/// The i with α^i = x; that of zero has no meaning.
static LOGARITHMS: [u8; ORDER + 1] = TABLES.1;

fn logarithm(x: u8) -> usize {
    LOGARITHMS[usize::from(x)].into()
}

fn multiply(x: u8, y: u8) -> u8 {
    if x == 0 || y == 0 { 0 } else { POWERS[logarithm(x) + logarithm(y)] }
}

/// `y` is not zero.
fn divide(x: u8, y: u8) -> u8 {
    if x == 0 { 0 } else { POWERS[logarithm(x) + ORDER - logarithm(y)] }
}

/// α^`symbol`, where symbol `symbol` is taken. `symbol` is below 255.
fn point(symbol: u8) -> u8 {
    POWERS[usize::from(symbol)]
}

/// The symbols of `wanted`, from `known` ones: each with its number, below 255, all different and of `len` bytes. `wanted`
/// has none of the known numbers. Lagrange's formula, byte by byte.
pub(super) fn interpolate(known: &[(u8, &[u8])], wanted: &[u8], len: usize) -> Vec<Vec<u8>> {
    let difference = |a: u8, b: u8| point(a) ^ point(b);
    let product = |factors: &mut dyn Iterator<Item = u8>| factors.fold(1, multiply);
    let others = |at: u8| known.iter().map(|&(number, _)| number).filter(move |&number| number != at);
    let weights: Vec<u8> =
        known.iter().map(|&(at, _)| divide(1, product(&mut others(at).map(|other| difference(at, other))))).collect();
    let value = |at: u8| {
        let all = product(&mut others(at).map(|other| difference(at, other)));
        let mut value = vec![0; len];
        for (&(number, symbol), &weight) in known.iter().zip(&weights) {
            let factor = divide(multiply(all, weight), difference(at, number));
            for (sum, &octet) in value.iter_mut().zip(symbol) {
                *sum ^= multiply(factor, octet);
            }
        }
        value
    };
    wanted.iter().map(|&at| value(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use reed_solomon_erasure::{Field, ReedSolomon, galois_8};

    /// Multiplication by its definition: polynomials over GF(2), reduced.
    fn by_definition(x: u8, y: u8) -> u8 {
        let product = (0..8).filter(|bit| y >> bit & 1 == 1).fold(0_u16, |sum, bit| sum ^ u16::from(x) << bit);
        let reduced = (8..15)
            .rev()
            .fold(product, |rest, bit| if rest >> bit & 1 == 1 { rest ^ POLYNOMIAL << (bit - 8) } else { rest });
        reduced as u8
    }

    #[test]
    fn the_tables_agree_with_the_definition() {
        for x in 0..=255 {
            for y in 0..=255 {
                assert_eq!(multiply(x, y), by_definition(x, y));
                if y != 0 {
                    assert_eq!(divide(multiply(x, y), y), x);
                }
            }
        }
    }

    #[test]
    fn rfc_5510_section_8_2_two_source_symbols_by_hand() {
        // The line through (1, a) and (α, b) at α²: with α = 2 it is a + (a + b)(α² + 1)/(α + 1) = a + 3(a + b), hence 2a + 3b.
        let third = |a: u8, b: u8| interpolate(&[(0, &[a]), (1, &[b])], &[2], 1)[0][0];
        assert_eq!((third(1, 0), third(0, 1), third(1, 1)), (2, 3, 1));
        assert_eq!(third(0x80, 0), 0x1d);
        // At α³: a + (a + b)(α³ + 1)/(α + 1) = a + (α² + α + 1)(a + b) = 6a + 7b.
        let fourth = |a: u8, b: u8| interpolate(&[(0, &[a]), (1, &[b])], &[3], 1)[0][0];
        assert_eq!((fourth(1, 0), fourth(0, 1)), (6, 7));
    }

    #[test]
    fn rfc_5510_section_8_2_the_generator_matrix() {
        // V(k,k) times the matrix whose row i is the code word of the i-th unit vector is V(k,n).
        let (k, n) = (5_u8, 12_u8);
        let power = |i: u8, j: u8| POWERS[usize::from(i) * usize::from(j) % ORDER];
        let unit = |i: u8, j: u8| [u8::from(i == j)];
        for j in k..n {
            let column: Vec<u8> = (0..k)
                .map(|i| {
                    let rows: Vec<_> = (0..k).map(|m| unit(i, m)).collect();
                    let known: Vec<(u8, &[u8])> = (0..k).zip(&rows).map(|(m, row)| (m, &row[..])).collect();
                    interpolate(&known, &[j], 1)[0][0]
                })
                .collect();
            for i in 0..k {
                let sum = (0..k).fold(0, |sum, m| sum ^ multiply(power(i, m), column[usize::from(m)]));
                assert_eq!(sum, power(i, j), "row {i}, column {j}");
            }
        }
    }

    /// The library's field with αⁿ as its n-th element: at these the library takes its polynomials.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Powers;

    impl Field for Powers {
        const ORDER: usize = 256;
        type Elem = u8;

        fn add(a: u8, b: u8) -> u8 {
            galois_8::add(a, b)
        }

        fn mul(a: u8, b: u8) -> u8 {
            galois_8::mul(a, b)
        }

        fn div(a: u8, b: u8) -> u8 {
            galois_8::div(a, b)
        }

        fn exp(a: u8, n: usize) -> u8 {
            galois_8::exp(a, n)
        }

        fn zero() -> u8 {
            0
        }

        fn one() -> u8 {
            1
        }

        fn nth_internal(n: usize) -> u8 {
            galois_8::exp(2, n)
        }
    }

    proptest! {
        #[test]
        fn a_library_has_the_same_repair_symbols(
            source in prop::collection::vec(prop::collection::vec(any::<u8>(), 8), 1..40),
            repair in 1_u8..20,
        ) {
            let k = source.len() as u8;
            let known: Vec<(u8, &[u8])> = (0..k).zip(&source).map(|(number, symbol)| (number, &symbol[..])).collect();
            let ours = interpolate(&known, &(k..k + repair).collect::<Vec<_>>(), 8);
            let mut theirs = source.clone();
            theirs.resize(source.len() + usize::from(repair), vec![0; 8]);
            let code = ReedSolomon::<Powers>::new(source.len(), repair.into()).expect("a code has these numbers");
            code.encode(&mut theirs).expect("all symbols are there");
            prop_assert_eq!(&ours[..], &theirs[source.len()..]);
        }

        #[test]
        fn any_k_symbols_give_all_others(
            source in prop::collection::vec(prop::collection::vec(any::<u8>(), 4), 1..20),
            repair in 0_u8..20,
            order in Just((0_u8..255).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let k = source.len() as u8;
            let known: Vec<(u8, &[u8])> = (0..k).zip(&source).map(|(number, symbol)| (number, &symbol[..])).collect();
            let numbers: Vec<u8> = (k..k + repair).collect();
            let mut symbols = source.clone();
            symbols.extend(interpolate(&known, &numbers, 4));
            let survive: Vec<u8> = order.into_iter().filter(|&number| number < k + repair).take(k.into()).collect();
            let left: Vec<(u8, &[u8])> = survive.iter().map(|&n| (n, &symbols[usize::from(n)][..])).collect();
            let lost: Vec<u8> = (0..k + repair).filter(|number| !survive.contains(number)).collect();
            for (number, symbol) in lost.iter().zip(interpolate(&left, &lost, 4)) {
                prop_assert_eq!(&symbol, &symbols[usize::from(*number)]);
            }
        }
    }
}
