//! `host models`: what ships with the program.

use super::args::ModelsArgs;
use super::{exit, terminal};
use crate::library::{self, Shelf};

/// Runs the command.
pub(super) fn models(args: &ModelsArgs) -> u8 {
    if let Some(name) = &args.name {
        let found = library::find_experiment(name).or_else(|| library::find_coupling(name));
        return match found {
            Some(shipped) => {
                terminal::say(shipped.text.trim_end());
                exit::DONE
            }
            None => {
                terminal::complain(&format!(
                    "error: nothing that ships is called `{name}`; `host models` lists all"
                ));
                exit::REFUSED
            }
        };
    }
    let shelves = [
        ("examples: `host run NAME`", Shelf::Examples),
        ("models: `host run NAME`, or `iri: tvbo:NAME` under `dynamics`", Shelf::Models),
        ("coupling functions: `iri: tvbo:NAME` under `coupling`", Shelf::Couplings),
    ];
    for (title, shelf) in shelves {
        terminal::say(title);
        for name in library::names(shelf) {
            terminal::say(&format!("  {name}"));
        }
    }
    exit::DONE
}
