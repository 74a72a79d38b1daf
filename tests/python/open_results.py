"""Opens a result the way a user would and compares it with what the run should have left.

Arguments: the file, and a JSON object with
  precision  "f32" or "f64"
  sizes      extents of point, variable, node, and of time where a series was kept
  variable, node   names
  axes       name -> values
  series     [first time, time between samples], or null
  observed   name -> dimensions
  fc         [name, name of its source, samples left out], or null
"""

import json
import sys
import warnings

warnings.simplefilter("error")

import numpy as np

path, expected = sys.argv[1], json.loads(sys.argv[2])
sizes = expected["sizes"]
floats = {"f32": np.float32, "f64": np.float64}[expected["precision"]]

if path.endswith(".npz"):
    opened = np.load(path, allow_pickle=False)
    arrays = {name: opened[name] for name in opened.files}
    assert len(arrays) == len(opened.files), "a name is there twice"
    dimensions = None
    meta = arrays.pop("meta")
    assert meta.shape == (), meta.shape
    meta = str(meta)
else:
    import xarray as xr

    dataset = xr.open_zarr(path)
    arrays = {str(name): array.values for name, array in dataset.variables.items()}
    dimensions = {str(name): array.dims for name, array in dataset.variables.items()}
    meta = dataset.attrs["meta"]
    for name in ["variable", "node", *expected["axes"]]:
        assert name in dataset.coords, f"{name} is no coordinate"
    assert dataset.tavg.sel(node=expected["node"][0]).dims == ("point", "variable")


def check(name, dims, dtype):
    array = arrays.pop(name)
    assert array.shape == tuple(sizes[d] for d in dims), (name, array.shape)
    assert dtype is None or array.dtype == dtype, (name, array.dtype)
    if dimensions is not None:
        assert dimensions[name] == tuple(dims), (name, dimensions[name])
    return array


tavg = check("tavg", ["point", "variable", "node"], floats)
assert np.isfinite(tavg).all()
assert (check("nonfinite_step", ["point"], np.int64) == -1).all()
assert list(check("variable", ["variable"], None)) == expected["variable"]
assert list(check("node", ["node"], None)) == expected["node"]

if expected["series"] is not None:
    first, period = expected["series"]
    series = check("series", ["point", "time", "variable", "node"], floats)
    time = check("time", ["time"], np.float64)
    np.testing.assert_allclose(time, first + period * np.arange(sizes["time"]), rtol=1e-12)
    mean = series.astype(np.float64).mean(axis=1)
    np.testing.assert_allclose(tavg, mean, rtol=1e-6 if floats is np.float32 else 1e-13)

for name, values in expected["axes"].items():
    sizes[name] = len(values)
    np.testing.assert_allclose(check(name, [name], np.float64), values, rtol=1e-15)

observed = {name: check(name, dims, floats) for name, dims in expected["observed"].items()}
if expected["fc"] is not None:
    name, source, skip = expected["fc"]
    assert np.ptp(observed[source], axis=1).min() > 0, "a signal"
    for matrix, signal in zip(observed[name], observed[source]):
        reference = np.corrcoef(signal[skip:].astype(np.float64).T)
        tolerance = 1e-6 if floats is np.float32 else 1e-12
        np.testing.assert_allclose(matrix, reference, rtol=0, atol=tolerance)
    for axis in ["node_a", "node_b"]:
        assert list(check(axis, [axis], None)) == expected["node"]

# What is left are the times of observations, and the numbers of points that were chosen.
for name in arrays:
    assert name == "point" or name.removesuffix("_time") in observed, f"nobody expected {name}"

meta = json.loads(meta)
for key in ["program", "version", "seed", "dt", "steps", "variables", "experiment", "sweep"]:
    assert key in meta, key
assert meta["precision"] == expected["precision"]
assert [axis["array"] for axis in meta["sweep"]["axes"]] == list(expected["axes"])
assert meta["experiment"]["text"]
print("ok")
