use super::*;

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: 3..5 }
}

fn number(x: f64) -> Expr {
    expr(ExprKind::Number(x))
}

fn name(name: &str) -> Expr {
    expr(ExprKind::Symbol(name.into()))
}

fn binary(a: Expr, operator: BinaryOperator, b: Expr) -> Expr {
    expr(ExprKind::Binary(operator, Box::new(a), Box::new(b)))
}

fn divide(a: Expr, b: Expr) -> Expr {
    binary(a, BinaryOperator::Divide, b)
}

fn compare(a: Expr, operator: CompareOperator, b: Expr) -> Expr {
    expr(ExprKind::Compare(operator, Box::new(a), Box::new(b)))
}

fn call(function: &str, arguments: Vec<Expr>) -> Expr {
    expr(ExprKind::Call(function.into(), arguments))
}

fn pair(a: Expr, b: Expr) -> Expr {
    expr(ExprKind::Tuple(vec![a, b]))
}

/// Rows sum to 6, 0 and 12; columns to 8, 5 and 5.
fn weights() -> DMatrix<f64> {
    DMatrix::from_row_slice(3, 3, &[0., 2., 4., 0., 0., 0., 8., 3., 1.])
}

fn eval_with(
    equation: &Expr,
    matrix: &DMatrix<f64>,
    parameters: &[(&str, f64)],
) -> Result<DMatrix<f64>, TransformError> {
    let lengths = DMatrix::from_fn(3, 3, |i, j| (10 * i + j) as f64);
    let parameters = parameters.iter().map(|&(n, v)| (n.to_string(), v)).collect();
    evaluate(equation, &Matrices { matrix, lengths: &lengths, parameters: &parameters })
}

fn eval_ok(equation: &Expr) -> DMatrix<f64> {
    eval_with(equation, &weights(), &[]).unwrap()
}

#[test]
fn division_by_the_largest_weight_in_every_spelling() {
    let expected = weights() / 8.0;
    assert_eq!(eval_ok(&divide(name("W"), name("W_max"))), expected);
    assert_eq!(eval_ok(&divide(name("M"), name("M_max"))), expected);
    assert_eq!(eval_ok(&divide(name("W"), call("max", vec![name("W")]))), expected);
    assert_eq!(eval_ok(&divide(name("W"), call("Max", vec![name("W")]))), expected);
    assert_eq!(callable("normalize_by_max", &weights()).unwrap(), expected);
    let scaled = eval_with(&divide(name("W"), name("k")), &weights(), &[("k", 8.0)]);
    assert_eq!(scaled.unwrap(), expected);
}

#[test]
fn rows_are_afferents_and_columns_are_efferents() {
    let rows = [6.0, 1.0, 12.0];
    let by_row = DMatrix::from_fn(3, 3, |i, j| weights()[(i, j)] / rows[i]);
    assert_eq!(eval_ok(&divide(name("W"), name("W_rowsum_safe"))), by_row);
    assert_eq!(callable("normalize_by_rowsum", &weights()).unwrap(), by_row);
    let columns = [8.0, 5.0, 5.0];
    let by_column = DMatrix::from_fn(3, 3, |i, j| weights()[(i, j)] / columns[j]);
    assert_eq!(eval_ok(&divide(name("W"), name("W_colsum"))), by_column);
    assert_eq!(eval_ok(&divide(name("W"), name("W_colsum_safe"))), by_column);
    assert!(eval_ok(&divide(name("W"), name("W_rowsum")))[(1, 0)].is_nan(), "0/0 stays visible");
}

#[test]
fn laplacians() {
    let laplacian = callable("graph_laplacian", &weights()).unwrap();
    let expected = [-6., 2., 4., 0., 0., 0., 8., 3., -11.];
    assert_eq!(laplacian, DMatrix::from_row_slice(3, 3, &expected));
    assert!(laplacian.column_sum().iter().all(|&sum| sum == 0.0));
    let normalized = callable("normalized_graph_laplacian", &weights()).unwrap();
    assert_eq!(normalized, laplacian / 8.0);
    assert_eq!(callable("laplace", &weights()), None);
    assert!(CALLABLES.iter().all(|name| callable(name, &weights()).is_some()));
}

#[test]
fn statistics_and_lengths() {
    let filled = |value: Expr| {
        let nothing = binary(name("W"), BinaryOperator::Multiply, number(0.0));
        eval_ok(&binary(nothing, BinaryOperator::Add, value))[(2, 1)]
    };
    assert_eq!(filled(call("sum", vec![name("W")])), 18.0);
    assert_eq!(filled(call("mean", vec![name("W")])), 2.0);
    assert_eq!(filled(call("min", vec![name("L")])), 0.0);
    assert_eq!(filled(name("W_min")), 0.0);
    assert_eq!(filled(name("L_max")), 22.0);
    assert_eq!(filled(name("L")), 21.0);
    assert_eq!(filled(name("n")), 3.0);
    assert_eq!(filled(number(2.5)), 2.5);
    // Population: squares sum to 94, so the variance is 94/9 − 4.
    assert!((filled(call("std", vec![name("W")])) - (94.0f64 / 9.0 - 4.0).sqrt()).abs() < 1e-12);
}

#[test]
fn functions_work_entry_by_entry() {
    let each = |function: fn(f64) -> f64| weights().map(function);
    for (text, function) in [
        ("exp", f64::exp as fn(f64) -> f64),
        ("log", f64::ln),
        ("sqrt", f64::sqrt),
        ("tanh", f64::tanh),
        ("log1p", f64::ln_1p),
    ] {
        assert_eq!(eval_ok(&call(text, vec![name("W")])), each(function), "{text}");
    }
    let negated = expr(ExprKind::Unary(UnaryOperator::Negate, Box::new(name("W"))));
    assert_eq!(eval_ok(&call("Abs", vec![negated])), weights());
    assert_eq!(eval_ok(&call("Min", vec![name("W"), number(3.0)])), each(|w| w.min(3.0)));
    let three = vec![number(1.0), name("W"), number(3.0)];
    assert_eq!(eval_ok(&call("max", three)), each(|w| w.max(3.0)));
    assert_eq!(eval_ok(&binary(name("W"), BinaryOperator::Power, number(2.0))), each(|w| w * w));
    let base2 = eval_ok(&call("log", vec![name("W"), number(2.0)]));
    assert_eq!((base2[(0, 1)], base2[(2, 0)]), (1.0, 3.0));
}

#[test]
fn conditions_choose() {
    let strong = || compare(name("W"), CompareOperator::Greater, number(2.5));
    let kept = weights().map(|w| if w > 2.5 { w } else { 0.0 });
    let otherwise = pair(number(0.0), expr(ExprKind::Boolean(true)));
    assert_eq!(eval_ok(&call("Piecewise", vec![pair(name("W"), strong()), otherwise])), kept);
    assert_eq!(eval_ok(&call("where", vec![strong(), name("W"), number(0.0)])), kept);
    let short = compare(name("L"), CompareOperator::Less, number(20.0));
    let both = binary(strong(), BinaryOperator::And, short);
    let near = eval_ok(&call("where", vec![both, name("W"), number(0.0)]));
    assert_eq!((near.sum(), near[(0, 2)]), (4.0, 4.0));
    let no_case = eval_ok(&call("Piecewise", vec![pair(name("W"), strong())]));
    assert!(no_case[(0, 0)].is_nan() && no_case[(0, 2)] == 4.0);
    let weak = expr(ExprKind::Unary(UnaryOperator::Not, Box::new(strong())));
    let rest = eval_ok(&call("where", vec![weak, name("W"), number(0.0)]));
    assert_eq!(rest + kept, weights());
}

#[test]
fn errors_have_a_code_and_a_place() {
    let fails = |equation: &Expr| eval_with(equation, &weights(), &[]).unwrap_err();
    let condition = || compare(name("W"), CompareOperator::Greater, number(2.0));
    for (equation, text, code) in [
        (name("V"), "`V` is not known", Code::UnknownSymbol),
        (call("fft", vec![name("W")]), "`fft` is not a function", Code::Unsupported),
        (call("exp", vec![]), "`exp` takes 1 argument(s), not 0", Code::WrongArity),
        (call("sum", vec![name("W"), name("W")]), "takes 1", Code::WrongArity),
        (call("Max", vec![]), "at least 1", Code::WrongArity),
        (condition(), "a number needed here, but this is a condition", Code::WrongKind),
        (call("where", vec![name("W"); 3]), "a condition needed here", Code::WrongKind),
        (name("W_max"), "gives one number instead of a matrix", Code::WrongKind),
        (name("W_rowsum"), "gives one column instead", Code::WrongKind),
        (pair(name("W"), name("W")), "a group of values can't", Code::Unsupported),
    ] {
        let error = fails(&equation);
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!((error.code(), error.span()), (code, 3..5));
    }
}

#[test]
fn sizes_that_differ_are_refused() {
    let (lengths, parameters) = (DMatrix::zeros(2, 2), BTreeMap::new());
    let matrices = Matrices { matrix: &weights(), lengths: &lengths, parameters: &parameters };
    assert!(evaluate(&name("W"), &matrices).is_err());
    let empty = DMatrix::zeros(0, 0);
    let matrices = Matrices { matrix: &empty, lengths: &empty, parameters: &parameters };
    assert_eq!(evaluate(&name("W"), &matrices), Ok(empty.clone()));
}

#[test]
fn diagnostics_point_into_the_equation() {
    let mut sources = crate::diagnostic::Sources::default();
    let file = sources.add("e.yaml", "rhs: \"W / V\"");
    let equation = Location { file, span: 6..11 };
    let error = TransformError::UnknownSymbol { name: "V".into(), span: 4..5 };
    let diagnostic = error.diagnostic(&equation);
    assert_eq!(diagnostic.labels[0].location.span, 10..11);
    assert!(diagnostic.help.unwrap().contains("W_rowsum_safe"));
}
