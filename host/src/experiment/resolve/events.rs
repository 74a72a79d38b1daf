//! Conditions and the assignments they trigger.

use super::read::{Context, Named};
use crate::diagnostic::Code;
use crate::experiment::{Equation, Event};
use crate::yaml::Node;

/// Whether an event is a stimulus: by its type, or by what it has where no type is given.
pub(super) fn is_stimulus(node: &Node) -> bool {
    match node.get("event_type").and_then(Node::scalar).map(|s| s.text.as_str()) {
        Some(kind) => kind == "stimulus" || kind == "stimulation",
        None => node.get("condition").is_none(),
    }
}

/// A condition with its assignments; `None` for a stimulus.
pub(super) fn event(cx: &mut Context<'_>, member: Named<'_>) -> Option<Event> {
    if is_stimulus(member.node) {
        return None;
    }
    let what = format!("the event `{}`", member.name);
    let rising = match member.node.get("event_type").and_then(|n| cx.text(n, "event_type")) {
        None | Some("discrete") => false,
        Some("continuous") => true,
        Some(other) => {
            let message = format!("{what} has the type `{other}`");
            let help = "discrete, continuous and stimulus are known";
            cx.error_help(Code::NotSupported, message, member.location, help);
            return None;
        }
    };
    if let Some(target) = member.node.get("target_component")
        && target.scalar().is_none_or(|s| s.text != "all_vertices")
    {
        let message = format!("{what} must act on all nodes");
        cx.error(Code::NotSupported, message, &target.location);
    }
    let mut part = |key: &str| match member.node.get(key) {
        Some(node) => cx.equation(node, &what),
        None => {
            cx.error(Code::MissingKey, format!("{what} has no `{key}`"), member.location);
            None
        }
    };
    let (condition, affect): (Option<Equation>, Option<Equation>) =
        (part("condition"), part("affect"));
    if let Some(own) = member.node.get("parameters").filter(|n| !n.entries().is_empty()) {
        let message = format!("{what} has parameters of its own");
        let help = "put them among the model's parameters";
        cx.error_help(Code::NotSupported, message, &own.location, help);
    }
    Some(Event { name: member.name.to_owned(), condition: condition?, affect: affect?, rising })
}
