use super::*;
use crate::diagnostic::Diagnostic;
use crate::ir::{Input, Inst};

/// The findings, each as its code, message and the text it points at.
fn found(draft: &Draft) -> Vec<(Code, String, String)> {
    let show = |d: &Diagnostic| {
        let text = d.labels.first().map_or(String::new(), |label| {
            let text = &draft.sources.file(label.location.file).text;
            text[label.location.span.clone()].to_owned()
        });
        (d.code, d.message.clone(), text)
    };
    match draft.lower() {
        Ok(_) => panic!("it was accepted"),
        Err(found) => found.iter().map(show).collect(),
    }
}

fn one(draft: &Draft) -> (Code, String) {
    let found = found(draft);
    assert_eq!(found.len(), 1, "{found:?}");
    (found[0].0, found[0].2.clone())
}

#[test]
fn an_unknown_symbol_is_shown_with_the_nearest_name() {
    let draft = Draft::new().state("x", "-x + omgea*2 + omgea").parameter("omega", 1.0);
    let error = draft.lower().unwrap_err();
    let places: Vec<_> = error.iter().map(|d| d.labels[0].location.span.clone()).collect();
    assert_eq!(places, [5..10, 15..20]);
    assert_eq!(error.iter().next().unwrap().help.as_deref(), Some("did you mean `omega`?"));
}

#[test]
fn all_faults_are_found_and_each_once() {
    let draft = Draft::new()
        .state("x", "a1 + y*b1")
        .state("y", "d + d")
        .derived("d", "c1")
        .derived("unread", "e1 +");
    let names: Vec<String> = found(&draft).into_iter().map(|f| f.2).collect();
    assert_eq!(names, ["", "a1", "b1", "c1"]);
}

#[test]
fn what_a_model_may_not_do() {
    let cases: [(Draft, Code, &str); 17] = [
        (Draft::new().state("x", "f(x)"), Code::UnknownSymbol, "f"),
        (Draft::new().state("x", "exp(x, 1)"), Code::WrongArity, "exp(x, 1)"),
        (Draft::new().state("x", "x + (x > 0)"), Code::WrongKind, "x > 0"),
        (Draft::new().state("x", "Piecewise((1, x))"), Code::WrongKind, "x"),
        (Draft::new().state("x", "Piecewise(x)"), Code::WrongKind, "x"),
        (Draft::new().state("x", "(1, x)"), Code::WrongKind, "(1, x)"),
        (Draft::new().state("x", "a < b & c < d").parameter("a", 0.0), Code::UnknownSymbol, "b"),
        (Draft::new().state("x", "x[0]"), Code::WrongKind, "x[0]"),
        (Draft::new().state("x", "Sum(x, 3)"), Code::WrongKind, "3"),
        (Draft::new().state("x", "Sum(x, (i, 0, x))"), Code::WrongKind, "x"),
        (Draft::new().state("x", "1").state("x", "2"), Code::DefinedTwice, "x"),
        (Draft::new().state("x", "1").parameter("x", 2.0), Code::DefinedTwice, "x"),
        (Draft::new().state("x", "d").derived("d", "d + 1"), Code::Cycle, "d"),
        (
            Draft::new().state("x", "a").derived("a", "b").derived("b", "c").derived("c", "a"),
            Code::Cycle,
            "a",
        ),
        (Draft::new().state("x", "f(x)").function("f", &["v"], "f(v)"), Code::Cycle, "f(v)"),
        (Draft::new().state("x", "f()").function("f", &["v"], "v"), Code::WrongArity, "f()"),
        (
            Draft::new().state("x", "c").coupling("c", (&[0], &[]), "x_j", "gx + x_j"),
            Code::UnknownSymbol,
            "x_j",
        ),
    ];
    for (draft, code, text) in cases {
        let found = found(&draft);
        assert_eq!((found[0].0, found[0].2.as_str()), (code, text), "{found:?}");
    }
}

#[test]
fn a_circle_is_named_in_file_order() {
    let draft = Draft::new().state("x", "c").derived("a", "b").derived("b", "c").derived("c", "a");
    let found = found(&draft);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1, "a → b → c → a depend on each other in a circle");
}

#[test]
fn an_event_sets_state_variables_only() {
    let mut draft = Draft::new().state("v", "0").parameter("c", 1.0);
    let condition = draft.equation("v > 1");
    let affect = draft.equation("v = c; w = 2");
    let event = crate::experiment::Event { name: "e".into(), condition, affect, rising: false };
    draft.experiment.dynamics.events.push(event);
    assert_eq!(one(&draft), (Code::UnknownSymbol, "w".into()));
}

#[test]
fn an_unknown_output_is_refused() {
    let mut draft = Draft::new().state("v", "0");
    draft.experiment.dynamics.output = vec!["w".into()];
    assert_eq!(one(&draft).0, Code::UnknownName);
}

#[test]
fn a_wrap_needs_a_domain() {
    let mut draft = Draft::new().state("v", "0");
    draft.experiment.dynamics.state_variables[0].enforce = Enforce::Wrap;
    assert_eq!(one(&draft), (Code::BadValue, "v".into()));
}

#[test]
fn doubling_functions_do_not_run_away() {
    let mut draft = Draft::new().state("x", "f0(x)");
    for i in 0..60 {
        let body = format!("f{}(v)*f{}(v + 1)", i + 1, i + 1);
        draft = draft.function(&format!("f{i}"), &["v"], &body);
    }
    let draft = draft.function("f60", &["v"], "v");
    assert!(found(&draft).iter().any(|f| f.0 == Code::TooLarge));
}

#[test]
fn an_array_needs_the_elements_of_its_shape() {
    let empty = ParameterValue::Array { shape: vec![0], values: Vec::new() };
    let draft = Draft::new().state("x", "1").parameter_of(Scope::Dynamics, "a", empty);
    assert_eq!(one(&draft), (Code::BadValue, "a".into()));
}

#[test]
fn a_long_chain_of_definitions_is_refused_and_a_shorter_one_is_not() {
    let chain = |length: usize| {
        let mut draft = Draft::new().state("x", "d0").derived(&format!("d{length}"), "x");
        for i in 0..length {
            draft = draft.derived(&format!("d{i}"), &format!("sin(d{} + 1)", i + 1));
        }
        draft
    };
    assert!(chain(200).lower().is_ok());
    assert!(found(&chain(3000)).iter().any(|f| f.0 == Code::TooLarge));
}

#[test]
fn a_parameter_may_be_called_t() {
    let draft = Draft::new().state("x", "t").parameter("t", 2.0);
    let lowered = lower(&draft.experiment).unwrap();
    let drift = &lowered.program.drift;
    assert!(drift.insts.contains(&Inst::Input(Input::Parameter(0))), "{drift:?}");
    assert!(!drift.insts.contains(&Inst::Input(Input::Time)), "{drift:?}");
}

#[test]
fn a_derived_variable_overshadows_a_parameter_with_a_warning() {
    let draft = Draft::new().state("x", "d").parameter("d", 2.0).derived("d", "3*x");
    let lowered = lower(&draft.experiment).unwrap();
    let messages: Vec<_> = lowered.warnings.iter().map(|w| w.message.as_str()).collect();
    assert_eq!(messages, ["`d` is a parameter and a derived variable: the latter is used"]);
    let drift = &lowered.program.drift;
    assert!(!drift.insts.contains(&Inst::Input(Input::Parameter(0))), "{drift:?}");
}

#[test]
fn a_parameter_that_nothing_reads_is_noticed() {
    let draft = Draft::new().state("x", "-k*x").parameter("k", 1.0).parameter("kk", 2.0);
    let lowered = lower(&draft.experiment).unwrap();
    let [warning] = &lowered.warnings[..] else { panic!("{:?}", lowered.warnings) };
    assert_eq!(warning.message, "no equation reads `kk`");
    assert_eq!(warning.labels[0].text, "did you mean `k`?");
}
