use super::*;
use proptest::prelude::*;

fn weights(kind: Kind, parameters: &[(&str, f64)], seed: u64) -> DMatrix<f64> {
    let spec = GeneratorSpec { seed, ..GeneratorSpec::new(kind, parameters) };
    generate(&spec).unwrap().weights.value
}

fn directed(kind: Kind, parameters: &[(&str, f64)], seed: u64) -> DMatrix<f64> {
    let spec = GeneratorSpec { seed, directed: true, ..GeneratorSpec::new(kind, parameters) };
    generate(&spec).unwrap().weights.value
}

/// Neighbours of each node, having checked that the graph is simple and undirected.
fn degrees(weights: &DMatrix<f64>) -> Vec<usize> {
    assert_eq!(weights, &weights.transpose());
    assert!(weights.diagonal().iter().all(|&w| w == 0.0));
    assert!(weights.iter().all(|&w| w == 0.0 || w == 1.0));
    weights.row_iter().map(|row| row.sum() as usize).collect()
}

fn connected(weights: &DMatrix<f64>) -> bool {
    let mut reached = vec![false; weights.nrows()];
    let mut front = vec![0];
    while let Some(node) = front.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            front.extend((0..weights.nrows()).filter(|&j| weights[(j, node)] != 0.0));
        }
    }
    reached.into_iter().all(|r| r)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn barabasi_albert_has_m_edges_for_each_new_node(n in 2usize..60, m in 1usize..8, seed: u64) {
        prop_assume!(m < n);
        let graph = weights(Kind::BarabasiAlbert, &[("n", n as f64), ("m", m as f64)], seed);
        let degrees = degrees(&graph);
        prop_assert_eq!(degrees.iter().sum::<usize>(), 2 * m * (n - m));
        prop_assert!(degrees[m + 1..].iter().all(|&d| d >= m));
        prop_assert!(connected(&graph));
    }

    #[test]
    fn watts_strogatz_keeps_its_edges(n in 3usize..50, half in 0usize..5, p in 0.0..=1.0f64, seed: u64) {
        let k = 2 * half;
        prop_assume!(k < n);
        let parameters = [("n", n as f64), ("k", k as f64), ("p", p)];
        let degrees = degrees(&weights(Kind::WattsStrogatz, &parameters, seed));
        prop_assert_eq!(degrees.iter().sum::<usize>(), n * k);
        // Only the far end of an edge moves.
        prop_assert!(degrees.iter().all(|&d| d >= half));
    }

    #[test]
    fn random_regular_graphs_are_regular(n in 1usize..40, d in 0usize..40, seed: u64) {
        prop_assume!(d < n && n * d % 2 == 0);
        let graph = weights(Kind::RandomRegular, &[("n", n as f64), ("d", d as f64)], seed);
        prop_assert!(degrees(&graph).into_iter().all(|degree| degree == d));
    }

    #[test]
    fn seeds_reproduce_and_differ(seed: u64) {
        let parameters = [("n", 30.0), ("p", 0.5)];
        let graph = weights(Kind::ErdosRenyi, &parameters, seed);
        degrees(&graph);
        prop_assert_eq!(&graph, &weights(Kind::ErdosRenyi, &parameters, seed));
        prop_assert_ne!(&graph, &weights(Kind::ErdosRenyi, &parameters, seed.wrapping_add(1)));
    }

    #[test]
    fn shuffled_weights_stay_on_their_connections(seed: u64, values in prop::collection::vec(0u8..4, 49)) {
        let source = DMatrix::from_iterator(7, 7, values.iter().map(|&v| f64::from(v)));
        let spec = GeneratorSpec {
            seed,
            source: Some(source.clone()),
            ..GeneratorSpec::new(Kind::WeightShuffle, &[])
        };
        let shuffled = generate(&spec).unwrap().weights.value;
        prop_assert_eq!(source.map(|w| w != 0.0), shuffled.map(|w| w != 0.0));
        let sorted = |m: &DMatrix<f64>| {
            let mut all: Vec<f64> = m.iter().copied().collect();
            all.sort_by(f64::total_cmp);
            all
        };
        prop_assert_eq!(sorted(&source), sorted(&shuffled));
    }
}

#[test]
fn erdos_renyi_has_about_the_expected_number_of_edges() {
    let pairs = 200.0 * 199.0 / 2.0;
    let parameters = [("n", 200.0), ("p", 0.3)];
    let undirected = weights(Kind::ErdosRenyi, &parameters, 5).sum() / 2.0;
    // Four standard deviations of a binomial number.
    let spread = 4.0 * (pairs * 0.3f64 * 0.7).sqrt();
    assert!((undirected - 0.3 * pairs).abs() < spread, "{undirected}");
    let one_way = directed(Kind::ErdosRenyi, &parameters, 5);
    assert!((one_way.sum() - 0.6 * pairs).abs() < spread * 2f64.sqrt());
    assert_ne!(one_way, one_way.transpose());
    assert_eq!(one_way.diagonal().sum(), 0.0);
    assert_eq!(weights(Kind::ErdosRenyi, &[("n", 9.0), ("p", 0.0)], 1).sum(), 0.0);
    assert_eq!(weights(Kind::ErdosRenyi, &[("n", 9.0), ("p", 1.0)], 1).sum(), 72.0);
}

#[test]
fn watts_strogatz_without_rewiring_is_a_ring() {
    let ring = weights(Kind::WattsStrogatz, &[("n", 10.0), ("k", 2.0), ("p", 0.0)], 3);
    assert_eq!(ring, weights(Kind::Cycle, &[("n", 10.0)], 0));
    let rewired = weights(Kind::WattsStrogatz, &[("n", 10.0), ("k", 2.0), ("p", 1.0)], 3);
    assert_ne!(ring, rewired);
}

#[test]
fn regular_graphs() {
    assert_eq!(degrees(&weights(Kind::Complete, &[("n", 5.0)], 0)), [4; 5]);
    assert_eq!(degrees(&weights(Kind::Cycle, &[("n", 5.0)], 0)), [2; 5]);
    assert_eq!(degrees(&weights(Kind::Star, &[("n", 5.0)], 0)), [4, 1, 1, 1, 1]);
    assert_eq!(degrees(&weights(Kind::Cycle, &[("n", 2.0)], 0)), [1, 1]);
    for kind in [Kind::Complete, Kind::Cycle, Kind::Star] {
        assert_eq!(weights(kind, &[("n", 1.0)], 0), DMatrix::zeros(1, 1));
    }
    let flat = weights(Kind::Grid, &[("m", 2.0), ("n", 3.0)], 0);
    assert_eq!(degrees(&flat), [2, 3, 2, 2, 3, 2]);
    assert_eq!(flat[(0, 3)], 1.0, "row by row");
    let torus = weights(Kind::Grid, &[("rows", 3.0), ("columns", 4.0), ("periodic", 1.0)], 0);
    assert_eq!(degrees(&torus), [4; 12]);
    let ring = directed(Kind::Cycle, &[("n", 3.0)], 0);
    assert_eq!((ring[(1, 0)], ring[(0, 1)]), (1.0, 0.0), "node 0 sends to node 1");
    let star = directed(Kind::Star, &[("n", 3.0)], 0);
    assert_eq!((star[(2, 0)], star[(0, 2)]), (1.0, 0.0), "node 0 sends to all");
}

#[test]
fn reservoirs_have_their_spectral_radius() {
    let spec = [("n", 60.0), ("sparsity", 0.2), ("spectral_radius", 1.25)];
    let reservoir = weights(Kind::RandomReservoir, &spec, 7);
    let present = reservoir.iter().filter(|&&w| w != 0.0).count();
    assert!((600..840).contains(&present), "{present}");
    // Independent of the eigenvalues: norms of powers (Gelfand's formula).
    let mut power = reservoir.clone();
    let mut log_scale = 0.0;
    for _ in 0..12 {
        power = &power * &power;
        let norm = power.norm();
        power /= norm;
        log_scale = 2.0 * log_scale + norm.ln();
    }
    let radius = (log_scale / 4096.0).exp();
    assert!((radius - 1.25).abs() < 2e-3, "{radius}");

    let mut uniform = GeneratorSpec::new(Kind::RandomReservoir, &spec);
    uniform.parameters.insert(
        "weight_distribution".into(),
        Parameter::Distribution(WeightDistribution::Uniform { lo: 0.5, hi: 1.0 }),
    );
    assert!(generate(&uniform).unwrap().weights.value.iter().all(|&w| w >= 0.0));
}

#[test]
fn errors_name_generator_and_parameter() {
    let fails = |kind, parameters: &[(&str, f64)]| {
        generate(&GeneratorSpec::new(kind, parameters)).unwrap_err().to_string()
    };
    for (text, expected) in [
        (fails(Kind::ErdosRenyi, &[("n", 5.0)]), "ErdosRenyi: parameter `p` is missing"),
        (fails(Kind::ErdosRenyi, &[("n", 5.0), ("p", 1.5)]), "ErdosRenyi: parameter `p` is 1.5"),
        (fails(Kind::ErdosRenyi, &[("n", 5.5), ("p", 0.5)]), "ErdosRenyi: parameter `n` is 5.5"),
        (fails(Kind::ErdosRenyi, &[("n", 1e9), ("p", 0.5)]), "parameter `n` is 1000000000"),
        (fails(Kind::Complete, &[("n", f64::NAN)]), "parameter `n` is NaN"),
        (fails(Kind::Complete, &[("n", 0.0)]), "parameter `n` is 0"),
        (fails(Kind::Complete, &[("n", 3.0), ("q", 1.0)]), "Complete: no parameter `q`"),
        (fails(Kind::RandomRegular, &[("n", 5.0), ("d", 3.0)]), "no graph of 5 nodes has 3"),
        (fails(Kind::BarabasiAlbert, &[("n", 1.0), ("m", 1.0)]), "parameter `m` is 1"),
        (fails(Kind::WattsStrogatz, &[("n", 9.0), ("k", 3.0), ("p", 0.0)]), "`k` is 3"),
        (fails(Kind::WeightShuffle, &[]), "parameter `source` is missing"),
        (fails(Kind::RandomReservoir, &[("n", 3.0), ("sparsity", 0.0)]), "radius is 0"),
        ("Erdos".parse::<Kind>().unwrap_err().to_string(), "Erdos: no such kind of graph"),
    ] {
        assert!(text.contains(expected), "{text}");
    }
    let spec = GeneratorSpec {
        directed: true,
        ..GeneratorSpec::new(Kind::BarabasiAlbert, &[("n", 5.0), ("m", 1.0)])
    };
    assert!(generate(&spec).is_err());
    assert_eq!("erdosrenyi".parse::<Kind>().unwrap(), Kind::ErdosRenyi);
}
