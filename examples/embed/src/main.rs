//! A sweep from a program of one's own.

use host::{RunOptions, SimulationExperiment};

fn main() -> Result<(), host::Error> {
    let experiment = SimulationExperiment::from_file("embedded:examples/three_nodes.yaml")?;
    let currents: Vec<f64> = (0..8).map(|item| 0.1 * f64::from(item)).collect();
    let options = RunOptions::new()
        .n_steps(2000)
        .swept_param("I", currents.clone())
        .on_progress(|progress| eprint!("\r{:3.0} %", 100.0 * progress.fraction()));
    let result = experiment.run_with(&options)?;
    eprintln!("\r{}", result.summary.device);
    for (item, current) in currents.iter().enumerate() {
        let mean = result.mean(item, "v", 0).unwrap_or(f64::NAN);
        println!("I = {current:.1}: the mean of v at node 0 is {mean:.4}");
    }
    Ok(())
}
