//! The keys of the TVBO format, both spellings (0.5.3 and 1.0), class by class.
//!
//! A key that is missing here is an error in a file, so a class lists everything that the format
//! has: what is read, what is documentation, what can't be honoured and what is skipped.

use super::class::{Class, Key, Rule};

const fn any(name: &'static str) -> Key {
    Key { name, rule: Rule::Any }
}
const fn one(name: &'static str, class: &'static Class) -> Key {
    Key { name, rule: Rule::One(class) }
}
const fn named(name: &'static str, class: &'static Class) -> Key {
    Key { name, rule: Rule::Named(class) }
}
const fn refuse(name: &'static str, why: &'static str) -> Key {
    Key { name, rule: Rule::Refuse(why) }
}
const fn skip(name: &'static str, why: &'static str) -> Key {
    Key { name, rule: Rule::Skip(why) }
}
const fn python(name: &'static str) -> Key {
    Key { name, rule: Rule::Python }
}
const fn class(what: &'static str, keys: &'static [Key]) -> Class {
    Class { what, short: false, keys }
}
const fn short(what: &'static str, keys: &'static [Key]) -> Class {
    Class { what, short: true, keys }
}

const LATEX: &str = "write the equation as plain text, as in `a*x + b`";
const SURFACE: &str = "surfaces and nested networks are not simulated";
const FITTING: &str =
    "fitting is not part of a simulation; sweep the parameters and choose from the results";

/// A whole experiment.
pub static EXPERIMENT: Class = class(
    "an experiment",
    &[
        any("id"),
        any("model"),
        one("dynamics", &DYNAMICS),
        one("network", &NETWORK),
        one("connectivity", &NETWORK),
        // One coupling or several by name: the resolver knows.
        any("coupling"),
        one("integration", &INTEGRATOR),
        named("observations", &OBSERVATION),
        any("functions"),
        one("stimulation", &STIMULUS),
        named("events", &EVENT),
        named("explorations", &EXPLORATION),
        one("execution", &EXECUTION),
        any("environment"),
        any("software"),
        skip("optimizations", FITTING),
        skip("optimization", FITTING),
        skip("inferences", FITTING),
        skip("inference", FITTING),
        skip("algorithms", FITTING),
        skip("continuations", "bifurcations are not followed; sweep the parameter instead"),
        skip("workflow", "the sweep is distributed by this program's own sharding"),
        skip("dataset", "one connectome is simulated; run the program once a subject"),
        refuse("field_dynamics", "partial differential equations are not simulated"),
        refuse("additional_equations", "put them among the model's derived variables"),
    ],
);

/// A model.
pub static DYNAMICS: Class = Class {
    what: "a model",
    short: true,
    keys: &[
        named("parameters", &PARAMETER),
        named("derived_parameters", &DERIVED),
        named("derived_variables", &DERIVED),
        named("functions", &FUNCTION),
        named("coupling_inputs", &COUPLING_INPUT),
        named("coupling_terms", &COUPLING_INPUT),
        named("state_variables", &STATE_VARIABLE),
        named("events", &EVENT),
        any("output"),
        any("number_of_modes"),
        any("system_type"),
        any("autonomous"),
        any("model_type"),
        any("source"),
        any("modified"),
        any("derived_from_model"),
        any("cse"),
        any("compile"),
        refuse("dataLocation", "write the model into the experiment"),
        refuse("local_coupling_term", "use a coupling input with `local: true`"),
        refuse("stimulus", "put the stimulus among the experiment's events"),
        refuse("modes", "use number_of_modes and equations over modes"),
        refuse("components", "use number_of_modes and equations over modes"),
        refuse("observed", "put it among the derived variables and record it"),
    ],
};

/// A parameter.
pub static PARAMETER: Class = short(
    "a parameter",
    &[
        any("value"),
        any("default"),
        one("equation", &EQUATION),
        one("domain", &RANGE),
        one("range", &RANGE),
        one("boundaries", &RANGE),
        any("reported_optimum"),
        any("heterogeneous"),
        any("free"),
        any("shape"),
        any("datatype"),
        any("required"),
        any("explored_values"),
        refuse("element_domains", "a sweep sets a parameter at all nodes alike"),
        refuse("distribution", "write one value a node instead"),
        refuse("source", "write the values into the file"),
        refuse("measure", "write the values into the file"),
        refuse("dataset_path", "write the values into the file"),
    ],
);

/// A derived parameter or variable.
pub static DERIVED: Class = short(
    "a derived quantity",
    &[
        one("equation", &EQUATION),
        named("cases", &CASE),
        any("conditional"),
        any("record"),
        any("value"),
        any("domain"),
    ],
);

/// A case of a conditional derived variable.
pub static CASE: Class =
    class("a case", &[one("condition", &EQUATION), one("equation", &EQUATION)]);

/// An equation.
pub static EQUATION: Class = short(
    "an equation",
    &[
        any("lhs"),
        any("lefthandside"),
        any("rhs"),
        any("righthandside"),
        named("conditionals", &CONDITIONAL),
        named("parameters", &PARAMETER),
        any("time_dependent"),
        any("engine"),
        python("pycode"),
        refuse("latex", LATEX),
    ],
);

/// A condition and an expression.
pub static CONDITIONAL: Class =
    class("a conditional block", &[any("condition"), any("expression")]);

/// A function that equations call.
pub static FUNCTION: Class = class(
    "a function",
    &[
        named("arguments", &ARGUMENT),
        one("equation", &EQUATION),
        any("requirements"),
        any("output"),
        python("source_code"),
        python("callable"),
        refuse("input", "functions of equations take arguments only"),
        refuse("output_equation", "write one equation"),
        refuse("apply_on_dimension", "equations are evaluated node by node"),
        refuse("aggregate", "equations are evaluated node by node"),
        refuse("time_range", "equations are evaluated at the time of the step"),
    ],
);

/// An argument of a function.
pub static ARGUMENT: Class = short("an argument", &[any("value")]);

/// A coupling input of a model.
pub static COUPLING_INPUT: Class = short(
    "a coupling input",
    &[any("dimension"), any("keys"), any("source"), any("local"), any("value"), any("domain")],
);

/// A state variable.
pub static STATE_VARIABLE: Class = short(
    "a state variable",
    &[
        one("equation", &EQUATION),
        any("initial_value"),
        one("distribution", &DISTRIBUTION),
        one("domain", &RANGE),
        one("range", &RANGE),
        one("boundaries", &RANGE),
        any("coupling_variable"),
        any("record"),
        any("variable_of_interest"),
        any("stimulation_variable"),
        any("equation_type"),
        any("equation_order"),
        one("noise", &NOISE),
        refuse("derivative_initial_value", "write a second-order equation as two of first order"),
        refuse("history", "histories before t = 0 are the constant initial value"),
    ],
);

/// A range.
pub static RANGE: Class = class(
    "a range",
    &[
        any("lo"),
        any("hi"),
        any("step"),
        any("n"),
        any("log_scale"),
        any("explored_values"),
        any("enforce"),
        any("element"),
    ],
);

/// A distribution of initial values.
pub static DISTRIBUTION: Class = short(
    "a distribution",
    &[
        named("parameters", &PARAMETER),
        one("domain", &RANGE),
        any("seed"),
        any("axis"),
        refuse("function", "Uniform and Gaussian are known"),
        refuse("correlation", "initial values are drawn independently"),
    ],
);

/// Noise.
pub static NOISE: Class = class(
    "a noise",
    &[
        named("parameters", &PARAMETER),
        any("noise_type"),
        any("gaussian"),
        any("additive"),
        any("seed"),
        any("targets"),
        any("random_state"),
        refuse("correlated", "noise is independent over nodes, variables and steps"),
        refuse("equation", "noise is additive: sigma·sqrt(dt)·z"),
        refuse("intensity", "write it as the parameter `sigma` or `nsig`"),
        refuse("distribution", "noise is Gaussian"),
        refuse("function", "noise is Gaussian"),
        python("pycode"),
    ],
);

/// An event or a stimulus.
pub static EVENT: Class = class(
    "an event",
    &[
        named("parameters", &PARAMETER),
        any("event_type"),
        one("condition", &EQUATION),
        any("condition_states"),
        any("condition_parameters"),
        one("affect", &EQUATION),
        any("affect_states"),
        any("affect_parameters"),
        one("equation", &EQUATION),
        any("nodes"),
        any("regions"),
        any("weights"),
        any("weighting"),
        any("target_variable"),
        any("target_regions"),
        any("target_component"),
        any("duration"),
        any("sampling_rate"),
        any("interpolation"),
        refuse("affect_negative", "write a second event with the condition negated"),
        refuse("trigger_times", "write the times into an equation of t"),
        refuse("weight_distribution", "write one weight a node"),
        refuse("dataLocation", "write the stimulus as an equation of t"),
    ],
);

/// The old form of a stimulus.
pub static STIMULUS: Class = class(
    "a stimulus",
    &[
        one("equation", &EQUATION),
        named("parameters", &PARAMETER),
        any("duration"),
        any("regions"),
        any("nodes"),
        any("weighting"),
        any("weights"),
        any("target_variable"),
        refuse("dataLocation", "write the stimulus as an equation of t"),
        refuse("noise", "put the noise on the state variable"),
    ],
);

/// A network.
pub static NETWORK: Class = class(
    "a network",
    &[
        any("number_of_nodes"),
        any("number_of_regions"),
        named("parameters", &PARAMETER),
        named("nodes", &NODE),
        named("edges", &EDGE),
        named("coupling", &COUPLING),
        named("dynamics", &DYNAMICS),
        one("node_template", &NODE),
        one("edge_template", &EDGE),
        any("coordinate_space"),
        any("parcellation"),
        any("tractogram"),
        named("transforms", &TRANSFORM),
        any("data_file"),
        any("descriptor"),
        any("bids_dir"),
        any("bids"),
        any("structural_measures"),
        any("observational_measures"),
        any("primary_weight"),
        any("distance_unit"),
        any("time_unit"),
        any("edge_matrix_files"),
        one("graph_generator", &GENERATOR),
        refuse("mesh", SURFACE),
        refuse("parent_network", SURFACE),
        refuse("node_mapping", SURFACE),
    ],
);

/// A transform of weights or lengths.
pub static TRANSFORM: Class = class(
    "a transform",
    &[one("equation", &EQUATION), any("callable"), named("arguments", &ARGUMENT), any("output")],
);

/// A graph generator.
pub static GENERATOR: Class = class(
    "a graph generator",
    &[
        any("type"),
        any("seed"),
        any("directed"),
        named("parameters", &PARAMETER),
        any("bindings"),
        refuse("procedure", "use one of the named generators, or a matrix file"),
        refuse("builder", "use one of the named generators, or a matrix file"),
    ],
);

/// A node.
pub static NODE: Class = class(
    "a node",
    &[
        any("id"),
        any("dynamics"),
        any("position"),
        any("region"),
        named("state", &PARAMETER),
        named("parameters", &PARAMETER),
        any("record"),
        refuse("events", "put events into the model"),
        refuse("subnetwork", SURFACE),
    ],
);

/// An edge.
pub static EDGE: Class = class(
    "an edge",
    &[
        any("source"),
        any("target"),
        any("weight"),
        any("delay"),
        any("distance"),
        any("length"),
        named("parameters", &PARAMETER),
        any("directed"),
        any("coupling"),
        any("format"),
        any("weighted"),
        any("valid_diagonal"),
        any("non_negative"),
        refuse("source_var", "name the variable in the coupling's incoming_states"),
        refuse("target_var", "name the edge's coupling after the coupling input"),
        refuse("source_network", SURFACE),
        refuse("target_network", SURFACE),
        refuse("dimension_labels", SURFACE),
        refuse("dynamics", "edges have no state of their own"),
        refuse("events", "put events into the model"),
    ],
);

/// A coupling.
pub static COUPLING: Class = short(
    "a coupling",
    &[
        named("parameters", &PARAMETER),
        one("pre_expression", &EQUATION),
        one("post_expression", &EQUATION),
        any("incoming_states"),
        any("local_states"),
        any("delayed"),
        // How a backend computes it, not what it computes.
        any("sparse"),
        any("vectorized"),
        any("symmetry"),
        refuse("coupling_function", "write pre_expression and post_expression"),
        refuse("interpolate_delays", "delays are whole steps"),
        refuse("outsym", "the input is named by the model"),
        refuse("observed", "record a derived variable of the model"),
        refuse("inner_coupling", SURFACE),
        refuse("region_mapping", SURFACE),
        refuse("regional_connectivity", SURFACE),
        refuse("aggregation", SURFACE),
        refuse("distribution", SURFACE),
    ],
);

/// The integration block.
pub static INTEGRATOR: Class = class(
    "an integration",
    &[
        any("method"),
        any("step_size"),
        any("dt"),
        any("duration"),
        any("steps"),
        any("transient_time"),
        any("delayed"),
        any("time_scale"),
        one("noise", &NOISE),
        any("state_wise_sigma"),
        named("parameters", &PARAMETER),
        any("number_of_stages"),
        any("scipy_ode_base"),
        any("differentiation"),
        any("abs_tol"),
        any("rel_tol"),
        refuse("intermediate_expressions", "choose a method by name: euler, heun or rk4"),
        refuse("update_expression", "choose a method by name: euler, heun or rk4"),
    ],
);

/// The execution block.
pub static EXECUTION: Class = class(
    "an execution",
    &[
        any("n_workers"),
        any("n_threads"),
        any("precision"),
        any("accelerator"),
        any("batch_size"),
        any("random_seed"),
        refuse("find_fixpoint", "give the initial values"),
    ],
);

/// An observation.
pub static OBSERVATION: Class = class(
    "an observation",
    &[
        any("equation"),
        any("parameters"),
        any("environment"),
        any("time_scale"),
        any("source"),
        any("aux_data"),
        any("period"),
        any("downsample_period"),
        any("voi"),
        any("imaging_modality"),
        any("warmup_source"),
        any("data_source"),
        any("skip_t"),
        any("tail_samples"),
        any("aggregation"),
        any("window_size"),
        any("pipeline"),
        any("class_reference"),
        any("analysis"),
        any("functions"),
    ],
);

/// An exploration.
pub static EXPLORATION: Class = class(
    "an exploration",
    &[
        named("space", &AXIS),
        any("mode"),
        any("strategy"),
        any("objectives"),
        any("observable"),
        any("record"),
        any("parameters"),
        any("n_parallel"),
        any("n_trials"),
        any("average"),
        any("parallel_mode"),
        any("parallel_batch_size"),
        any("execution"),
        any("algorithms"),
    ],
);

/// An axis of an exploration.
pub static AXIS: Class = short(
    "a sweep axis",
    &[
        any("parameter"),
        one("domain", &RANGE),
        any("explored_values"),
        any("transform"),
        refuse("element_domains", "a sweep sets a parameter at all nodes alike"),
    ],
);
