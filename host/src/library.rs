//! Content that ships inside the program: models, coupling functions, examples, connectomes.

use std::path::Path;

macro_rules! shipped {
    ($($path:literal),* $(,)?) => {
        /// Path below the repository and bytes of every shipped file.
        const FILES: &[(&str, &[u8])] =
            &[$(($path, include_bytes!(concat!("../../", $path)))),*];
    };
}

shipped![
    "connectomes/dk_average/README.md",
    "connectomes/dk_average/atlas-DesikanKilliany_meas-BoldCorrelation_relmat.dense.tsv",
    "connectomes/dk_average/atlas-DesikanKilliany_meas-BoldCorrelation_relmat.json",
    "connectomes/dk_average/atlas-DesikanKilliany_meas-streamlineCount_relmat.dense.tsv",
    "connectomes/dk_average/atlas-DesikanKilliany_meas-streamlineCount_relmat.json",
    "connectomes/dk_average/atlas-DesikanKilliany_meas-tractLength_relmat.dense.tsv",
    "connectomes/dk_average/atlas-DesikanKilliany_meas-tractLength_relmat.json",
    "connectomes/dk_average/atlas-DesikanKilliany_nodeindices.tsv",
    "connectomes/dk_average/dataset_description.json",
    "couplings/Difference.yaml",
    "couplings/FastLinearCoupling.yaml",
    "couplings/HyperbolicTangent.yaml",
    "couplings/KuramotoCoupling.yaml",
    "couplings/Linear.yaml",
    "couplings/PreSigmoidal.yaml",
    "couplings/Scaling.yaml",
    "couplings/Sigmoidal.yaml",
    "couplings/SigmoidalJansenRit.yaml",
    "examples/epileptor_network.yaml",
    "examples/fit_rww.yaml",
    "examples/hopf_noise.yaml",
    "examples/izhikevich_event.yaml",
    "examples/jansen_rit_delays.yaml",
    "examples/kuramoto_sweep.yaml",
    "examples/logistic_map.yaml",
    "examples/mpr_sweep.yaml",
    "examples/rww_bold_fc.yaml",
    "examples/three_nodes.yaml",
    "models/Epileptor.yaml",
    "models/FitzHughNagumo.yaml",
    "models/Generic2dOscillator.yaml",
    "models/HindmarshRose.yaml",
    "models/HodgkinHuxley.yaml",
    "models/Izhikevich.yaml",
    "models/JansenRit.yaml",
    "models/Kuramoto.yaml",
    "models/LarterBreakspear.yaml",
    "models/Linear.yaml",
    "models/LogisticMap.yaml",
    "models/MontbrioPazoRoxin.yaml",
    "models/MorrisLecar.yaml",
    "models/OrnsteinUhlenbeck.yaml",
    "models/ReducedWongWang.yaml",
    "models/ReducedWongWangBOLD.yaml",
    "models/ReducedWongWangExcInh.yaml",
    "models/StuartLandau.yaml",
    "models/SupHopf.yaml",
    "models/WilsonCowan.yaml",
    "models/ZerlautAdaptationFirstOrder.yaml",
];

/// The bytes of a shipped file by its path, `models/JansenRit.yaml` for example.
pub fn file(path: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, bytes)| *bytes)
}

/// The paths of all shipped files.
pub fn paths() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(path, _)| *path)
}

/// What kind of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelf {
    /// Experiments of one model, `models/`.
    Models,
    /// Coupling functions, `couplings/`.
    Couplings,
    /// Whole experiments, `examples/`.
    Examples,
}

impl Shelf {
    fn folder(self) -> &'static str {
        match self {
            Self::Models => "models",
            Self::Couplings => "couplings",
            Self::Examples => "examples",
        }
    }
}

/// A shipped YAML file.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// Its path, to be read as `embedded:` plus this.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// A shipped model by name; upper and lower case are one.
pub fn find_model(name: &str) -> Option<Shipped> {
    find(Shelf::Models, name)
}

/// A shipped coupling function by name; upper and lower case are one, and an ending `Coupling` may
/// be there or not.
pub fn find_coupling(name: &str) -> Option<Shipped> {
    let bare = name.strip_suffix("Coupling").filter(|bare| !bare.is_empty());
    find(Shelf::Couplings, name)
        .or_else(|| find(Shelf::Couplings, bare?))
        .or_else(|| find(Shelf::Couplings, &format!("{name}Coupling")))
}

/// A shipped example by name.
pub fn find_example(name: &str) -> Option<Shipped> {
    find(Shelf::Examples, name)
}

/// A shipped experiment by name: an example, else a model.
pub fn find_experiment(name: &str) -> Option<Shipped> {
    find_example(name).or_else(|| find_model(name))
}

/// The names on a shelf, sorted.
pub fn names(shelf: Shelf) -> Vec<&'static str> {
    let mut names: Vec<_> = on(shelf).map(|(name, _)| name).collect();
    names.sort_unstable();
    names
}

/// Name and place in [`FILES`] of the YAML files on a shelf.
fn on(shelf: Shelf) -> impl Iterator<Item = (&'static str, usize)> {
    FILES.iter().enumerate().filter_map(move |(index, (path, _))| {
        let rest = path.strip_prefix(shelf.folder())?.strip_prefix('/')?;
        let path = Path::new(rest);
        let name = path.file_stem()?.to_str()?;
        (!rest.contains('/') && path.extension()? == "yaml").then_some((name, index))
    })
}

fn find(shelf: Shelf, name: &str) -> Option<Shipped> {
    let (_, index) = on(shelf).find(|(stem, _)| stem.eq_ignore_ascii_case(name))?;
    let (path, bytes) = FILES[index];
    std::str::from_utf8(bytes).ok().map(|text| Shipped { path, text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Everything in the content folders is in the list.
    #[test]
    fn nothing_is_forgotten() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut found = BTreeSet::new();
        let mut folders: Vec<_> =
            ["models", "couplings", "examples", "connectomes"].map(|f| root.join(f)).into();
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for path in entries.map(|e| e.unwrap().path()) {
                if path.join("Cargo.toml").exists() {
                    // A program that uses the library.
                } else if path.is_dir() {
                    folders.push(path);
                } else {
                    found.insert(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        let listed: BTreeSet<_> = paths().map(str::to_owned).collect();
        assert_eq!(listed, found);
    }

    #[test]
    fn names_are_found_in_any_case() {
        assert!(find_model("jansenrit").is_some());
        assert!(find_model("nothing").is_none());
        assert!(names(Shelf::Models).contains(&"JansenRit"));
    }

    #[test]
    fn the_nine_coupling_functions_are_there() {
        for name in [
            "Linear",
            "Scaling",
            "Difference",
            "Sigmoidal",
            "SigmoidalJansenRit",
            "PreSigmoidal",
            "HyperbolicTangent",
            "KuramotoCoupling",
            "FastLinearCoupling",
            "LinearCoupling",
            "Kuramoto",
        ] {
            assert!(find_coupling(name).is_some(), "{name}");
        }
    }
}
