use super::*;
use proptest::prelude::*;

fn text(input: &str) -> String {
    with_symbols(input, &[])
}

fn with_symbols(input: &str, symbols: &[&str]) -> String {
    match parse(input, &|name| symbols.contains(&name)) {
        Ok(expr) => expr.to_string(),
        Err(error) => panic!("{input}: {error}"),
    }
}

fn error(input: &str) -> ExprError {
    parse(input, &|_| false).unwrap_err()
}

#[test]
fn precedence_is_pythons() {
    assert_eq!(text("a + b*c"), "(a + (b * c))");
    assert_eq!(text("a - b - c"), "((a - b) - c)");
    assert_eq!(text("a/b*c"), "((a / b) * c)");
    assert_eq!(text("-x**2"), "(-(x ** 2.0))");
    assert_eq!(text("2**-x"), "(2.0 ** (-x))");
    assert_eq!(text("a**b**c"), "(a ** (b ** c))");
    assert_eq!(text("a^2"), "(a ** 2.0)");
    assert_eq!(text("-a*b"), "((-a) * b)");
    assert_eq!(text("a % b * c"), "((a % b) * c)");
    assert_eq!(text("+x"), "x");
}

#[test]
fn numbers_are_pythons() {
    assert_eq!(text("1e-3 + .5 + 1. + 12"), "(((0.001 + 0.5) + 1.0) + 12.0)");
    assert_eq!(text("2/3"), "(2.0 / 3.0)");
    assert_eq!(text("2e0"), "2.0");
    assert_eq!(text("2e"), "(2.0 * e)");
}

#[test]
fn multiplication_may_be_implied_and_names_are_not_split() {
    assert_eq!(text("2x"), "(2.0 * x)");
    assert_eq!(text("2 (a + b)"), "(2.0 * (a + b))");
    assert_eq!(text("a b**2"), "(a * (b ** 2.0))");
    assert_eq!(text("(a)(b)"), "(a * b)");
    assert_eq!(text("a/b c"), "((a / b) * c)");
    assert_eq!(text("omega"), "omega");
    assert_eq!(text("pi (a)"), "(pi * a)");
}

#[test]
fn functions_apply_without_brackets() {
    assert_eq!(text("sin x"), "sin(x)");
    assert_eq!(text("sin x + 1"), "(sin(x) + 1.0)");
    assert_eq!(text("sin 2x"), "sin((2.0 * x))");
    assert_eq!(text("sin x**2"), "sin((x ** 2.0))");
    assert_eq!(text("sin x / y"), "(sin(x) / y)");
    // These two are surprising, and sympy's.
    assert_eq!(text("sin x cos y"), "sin((x * cos(y)))");
    assert_eq!(text("sin**2(x)**y"), "(sin(x) ** (2.0 ** y))");
    assert_eq!(text("sin**2(x)"), "(sin(x) ** 2.0)");
    assert_eq!(text("sin^2 x"), "(sin(x) ** 2.0)");
}

#[test]
fn a_symbol_of_the_model_wins_over_a_function_or_constant() {
    assert_eq!(text("gamma(x + 1)"), "gamma((x + 1.0))");
    assert_eq!(with_symbols("gamma(x + 1)", &["gamma"]), "(gamma * (x + 1.0))");
    assert_eq!(with_symbols("exp x", &["exp"]), "(exp * x)");
    assert_eq!(
        with_symbols("lambda*E*I*S*N*Q", &["lambda"]),
        "(((((lambda * E) * I) * S) * N) * Q)"
    );
    assert_eq!(text("H(x)"), "H(x)");
}

#[test]
fn conditions_have_three_spellings() {
    assert_eq!(text("(t >= a) & (t < b)"), "((t >= a) & (t < b))");
    assert_eq!(text("And(t >= a, t < b)"), "((t >= a) & (t < b))");
    assert_eq!(text("t >= a and t < b"), "((t >= a) & (t < b))");
    assert_eq!(text("a | b & c"), "(a | (b & c))");
    assert_eq!(text("not a or b"), "((~a) | b)");
    assert_eq!(text("Not(a)"), "(~a)");
    assert_eq!(text("Eq(x, -40.0)"), "(x == (-40.0))");
    assert_eq!(text("a < b <= c"), "((a < b) & (b <= c))");
    // `&` binds tighter than `<`, so this is the chain a < (b & c) < d.
    assert_eq!(text("a < b & c < d"), "((a < (b & c)) & ((b & c) < d))");
}

#[test]
fn tuples_and_indices() {
    assert_eq!(
        text("Piecewise((1, x < 0), (2, True))"),
        "Piecewise((1.0, (x < 0.0)), (2.0, True))"
    );
    assert_eq!(text("x_j[0] - x_j[1]"), "(x_j[0.0] - x_j[1.0])");
    assert_eq!(text("Sum(x[i], (i, 0, 2))"), "Sum(x[i], (i, 0.0, 2.0))");
    assert_eq!(text("A[0, 1]**2"), "(A[0.0, 1.0] ** 2.0)");
}

#[test]
fn spans_are_bytes_of_the_text() {
    let input = "a + sin(bb) * 2";
    let expr = parse(input, &|_| false).unwrap();
    let ExprKind::Binary(BinaryOperator::Add, _, product) = &expr.kind else { panic!("{expr}") };
    let ExprKind::Binary(BinaryOperator::Multiply, call, _) = &product.kind else {
        panic!("{expr}")
    };
    assert_eq!(&input[expr.span.clone()], input);
    assert_eq!(&input[product.span.clone()], "sin(bb) * 2");
    assert_eq!(&input[call.span.clone()], "sin(bb)");
}

#[test]
fn faults_are_named_and_placed() {
    use ExprErrorKind as K;
    let cases: [(&str, K, std::ops::Range<usize>); 14] = [
        ("  ", K::Empty, 0..2),
        ("a +", K::ExpectedValue("the end of the equation".into()), 3..3),
        ("a + * b", K::ExpectedValue("`*`".into()), 4..5),
        ("a 2", K::ExpectedOperator("`2`".into()), 2..3),
        ("(a + b", K::Unclosed('('), 0..1),
        ("exp(a", K::Unclosed('('), 3..4),
        ("a)", K::ExpectedOperator("`)`".into()), 1..2),
        ("a $ b", K::Character('$'), 2..3),
        ("x = 2", K::Character('='), 2..3),
        ("τ*x", K::UnicodeName("τ".into()), 0..2),
        (r"\frac{a}{b}", K::Latex, 0..1),
        ("1e999", K::NumberRange("1e999".into()), 0..5),
        ("sin + 1", K::BareFunction("sin".into()), 0..3),
        ("a if b else c", K::Conditional, 2..4),
    ];
    for (input, kind, span) in cases {
        assert_eq!(error(input), ExprError { kind, span }, "{input}");
    }
    assert!(error("τ").help().is_some());
}

#[test]
fn depth_is_bounded_in_every_direction() {
    let nested = format!("{}x{}", "(".repeat(5000), ")".repeat(5000));
    let signs = format!("{}x", "-".repeat(5000));
    let powers = format!("x{}", "**x".repeat(5000));
    let sum = format!("x{}", "+x".repeat(5000));
    let indices = format!("x{}", "[0]".repeat(5000));
    let calls = format!("{}x{}", "f(".repeat(5000), ")".repeat(5000));
    let chains = format!("{}x{}", "(0<".repeat(60), "<1)".repeat(60));
    for input in [nested, signs, powers, sum, indices, calls, chains] {
        let kind = error(&input).kind;
        assert!(matches!(kind, ExprErrorKind::TooDeep(_)), "{kind:?}");
    }
    let product = format!("x{}", "*x".repeat(300));
    assert!(parse(&product, &|_| false).is_ok());
}

/// The tree without its spans.
fn bare(expr: &Expr) -> Expr {
    let all = |items: &[Expr]| items.iter().map(bare).collect();
    let one = |x: &Expr| Box::new(bare(x));
    let kind = match &expr.kind {
        ExprKind::Unary(o, x) => ExprKind::Unary(*o, one(x)),
        ExprKind::Binary(o, x, y) => ExprKind::Binary(*o, one(x), one(y)),
        ExprKind::Compare(o, x, y) => ExprKind::Compare(*o, one(x), one(y)),
        ExprKind::Call(name, items) => ExprKind::Call(name.clone(), all(items)),
        ExprKind::Index(base, items) => ExprKind::Index(one(base), all(items)),
        ExprKind::Tuple(items) => ExprKind::Tuple(all(items)),
        other => other.clone(),
    };
    Expr { kind, span: 0..0 }
}

fn any_expr() -> impl Strategy<Value = Expr> {
    let make = |kind| Expr { kind, span: 0..0 };
    let leaf = prop_oneof![
        (0.0..1e300f64).prop_map(ExprKind::Number),
        (0u32..1000).prop_map(|n| ExprKind::Number(f64::from(n))),
        any::<bool>().prop_map(ExprKind::Boolean),
        "[a-z]_[a-z0-9]{0,3}".prop_map(ExprKind::Symbol),
    ];
    leaf.prop_map(make).prop_recursive(5, 40, 3, move |inner| {
        use {BinaryOperator as B, CompareOperator as C, UnaryOperator as U};
        let unary = prop::sample::select(vec![U::Negate, U::Not]);
        let binary = prop::sample::select(vec![
            B::Add,
            B::Subtract,
            B::Multiply,
            B::Divide,
            B::Modulo,
            B::Power,
            B::And,
            B::Or,
        ]);
        let compare = prop::sample::select(vec![
            C::Less,
            C::LessEqual,
            C::Greater,
            C::GreaterEqual,
            C::Equal,
            C::NotEqual,
        ]);
        let two = (inner.clone(), inner.clone()).prop_map(|(x, y)| (Box::new(x), Box::new(y)));
        let many = prop::collection::vec(inner.clone(), 1..3);
        let base = "[a-z]_[a-z]".prop_map(ExprKind::Symbol).prop_map(make);
        prop_oneof![
            (unary, inner.clone()).prop_map(|(o, x)| ExprKind::Unary(o, Box::new(x))),
            (binary, two.clone()).prop_map(|(o, (x, y))| ExprKind::Binary(o, x, y)),
            (compare, two).prop_map(|(o, (x, y))| ExprKind::Compare(o, x, y)),
            ("f_[a-z]{1,3}", many.clone()).prop_map(|(n, items)| ExprKind::Call(n, items)),
            (base, many.clone()).prop_map(|(b, items)| ExprKind::Index(Box::new(b), items)),
            many.prop_map(ExprKind::Tuple),
        ]
        .prop_map(make)
    })
}

proptest! {
    #[test]
    fn printing_and_parsing_give_the_same_tree(expr in any_expr()) {
        let printed = expr.to_string();
        let parsed = parse(&printed, &|_| false);
        prop_assert_eq!(parsed.as_ref().map(bare), Ok(expr), "{}", printed);
    }

    #[test]
    fn no_text_makes_the_parser_panic(input in "[a-z0-9+*/()\\[\\], <>=&|~^.%eτ\\\\-]{0,40}") {
        let _ = parse(&input, &|name| name == "a");
    }
}
