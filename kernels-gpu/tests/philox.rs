//! The generator against published words, and the normals against their distribution.

mod words;

use kernels_gpu::philox::{
    fill_normals, fill_normals_by_4, normal, normal_pair, normals, philox4x32, uniform, words,
};

/// The word at an offset of a subsequence.
fn word(seed: u64, subsequence: u64, offset: u64) -> u32 {
    words(seed, subsequence, offset / 4)[(offset % 4) as usize]
}

#[test]
fn rounds_give_the_known_answers_of_random123() {
    assert_eq!(
        philox4x32([u32::MAX; 4], [u32::MAX; 2]),
        [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
    );
    assert_eq!(
        philox4x32(
            [0x243f_6a88u32, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0]
        ),
        [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
    );
}

#[test]
fn words_are_those_of_curand() {
    let known: [((u64, u64, u64), [u32; 4]); 5] = [
        ((0, 0, 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
        ((1234, 0, 0), [0x2090_b348, 0xda7c_f0ab, 0x4401_906f, 0xcbca_470e]),
        ((1234, 7, 0), [0x56e6_04f4, 0x2107_acfd, 0xe9ac_28d3, 0x1deb_f147]),
        ((1234, 0, 5), [0x1cbe_137c, 0xfa27_7093, 0x147e_dd50, 0x3fc9_c8d8]),
        ((42, 1_000_000, 123_456_789), [0xae0a_5321, 0x866f_74c0, 0x3e3e_dc87, 0xc128_bb84]),
    ];
    for ((seed, subsequence, offset), expected) in known {
        let found = [0, 1, 2, 3].map(|k| word(seed, subsequence, offset + k));
        assert_eq!(found, expected, "({seed}, {subsequence}, {offset})");
    }
}

#[test]
fn uniforms_stay_in_the_half_open_interval() {
    assert_eq!(uniform::<f32>(0), 2f32.powi(-33));
    assert_eq!(uniform::<f32>(u32::MAX), 1.0);
    assert_eq!(uniform::<f32>(1 << 31), 0.5);
}

/// Box–Muller in binary64 from the same two words.
#[test]
fn normals_are_box_muller_of_their_words() {
    let mut source = words::Words(8);
    let check = |w0: u32, w1: u32| {
        let unit = |w: u32| (f64::from(w as f32) + 0.5) * 2f64.powi(-32);
        let (u, v) = (f64::from(unit(w0) as f32), unit(w1) * std::f64::consts::TAU);
        let v = f64::from(v as f32);
        let radius = (-2.0 * u.ln()).sqrt();
        let (sine, cosine) = normal_pair::<f32>(w0, w1);
        // The angle is rounded to binary32 in either, perhaps to neighbours.
        let tolerance = 1e-6 * radius;
        assert!((f64::from(sine) - radius * v.sin()).abs() <= tolerance, "{w0:08x} {w1:08x}");
        assert!((f64::from(cosine) - radius * v.cos()).abs() <= tolerance, "{w0:08x} {w1:08x}");
    };
    for w in [0, 1, 1 << 30, 1 << 31, 3 << 30, u32::MAX - 1, u32::MAX] {
        for v in [0, 1, 1 << 30, 1 << 31, 3 << 30, u32::MAX - 1, u32::MAX] {
            check(w, v);
        }
    }
    for _ in 0..20_000 {
        let w = source.next_word();
        check(w as u32, (w >> 32) as u32);
    }
}

#[test]
fn all_ways_to_draw_give_the_same_bits() {
    let (seed, block, count) = (99, 1 << 33, 37);
    let subsequence = |i: usize| (1 << 40) + 3 * i as u64;
    let mut rows = [[0f32; 37]; 4];
    let [r0, r1, r2, r3] = &mut rows;
    fill_normals_by_4(seed, subsequence, block, [r0, r1, r2, r3]);
    for (k, row) in rows.iter().enumerate() {
        let index = 4 * block + k as u64;
        let mut single = [0f32; 37];
        fill_normals(seed, subsequence, index, &mut single);
        for i in 0..count {
            let expected = normal(seed, subsequence(i), index).to_bits();
            assert_eq!(row[i].to_bits(), expected);
            assert_eq!(single[i].to_bits(), expected);
            assert_eq!(normals(seed, subsequence(i), block)[k].to_bits(), expected);
        }
    }
    // Sine first: words 0 and 1 make numbers 0 and 1.
    let [w0, w1, ..] = words(seed, 0, 0);
    let (sine, cosine) = normal_pair::<f32>(w0, w1);
    assert_eq!((normal(seed, 0, 0), normal(seed, 0, 1)), (sine, cosine));
}

/// A million draws, over steps and over nodes.
fn million() -> Vec<f32> {
    let mut draws = Vec::with_capacity(1_000_000);
    let mut rows = vec![[0f32; 1000]; 4];
    for block in 0..250 {
        let [r0, r1, r2, r3] = &mut rows[..] else { unreachable!("four rows") };
        fill_normals_by_4(2024, |i| i as u64, block, [r0, r1, r2, r3]);
        draws.extend(rows.iter().flatten());
    }
    draws
}

#[test]
fn moments_of_a_million_normals() {
    let draws = million();
    let n = draws.len() as f64;
    let moment = |k: i32| draws.iter().map(|&z| f64::from(z).powi(k)).sum::<f64>() / n;
    // Four standard errors of each: sqrt(var(z^k) / n), var = 1, 2, 15, 96.
    for (k, expected, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
        let error: f64 = moment(k) - expected;
        let limit = 4.0 * f64::sqrt(variance / n);
        assert!(error.abs() < limit, "moment {k}: off by {error}, limit {limit}");
    }
    // Neighbours in time and neighbours in space are uncorrelated.
    for lag in [1, 2, 1000, 2000, 4000] {
        let sum: f64 = draws.iter().zip(&draws[lag..]).map(|(&a, &b)| f64::from(a * b)).sum();
        assert!((sum / n).abs() < 4.0 / n.sqrt(), "lag {lag}: {}", sum / n);
    }
}

#[test]
fn kolmogorov_smirnov_of_a_million_normals() {
    let mut draws = million();
    draws.sort_by(f32::total_cmp);
    let n = draws.len() as f64;
    let distance = draws.iter().enumerate().fold(0f64, |worst, (i, &z)| {
        let cumulative = 0.5 * libm::erfc(-f64::from(z) / std::f64::consts::SQRT_2);
        let below = (cumulative - i as f64 / n).abs();
        let above = ((i + 1) as f64 / n - cumulative).abs();
        worst.max(below).max(above)
    });
    // 1.63 / sqrt(n) is the 1 % level.
    assert!(distance < 1.63 / n.sqrt(), "{distance}");
}
