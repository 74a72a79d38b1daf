"""Draws docs/figures/kuramoto_sweep.png from the result of `host run kuramoto_sweep`.

    python3 docs/figures/kuramoto_sweep.py kuramoto_sweep.npz docs/figures/kuramoto_sweep.png
"""

import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy

result = numpy.load(sys.argv[1])
meta = json.loads(str(result["meta"]))
variable = list(result["variable"]).index("frequency")
frequency = result["tavg"][:, variable].mean(axis=1).reshape(meta["sweep"]["shape"])
coupling, speed = result["c_glob.a"], result["network.conduction_speed"]

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
image = left.pcolormesh(speed, coupling, frequency, cmap="viridis", shading="nearest")
left.set(xlabel="conduction speed (m/s)", ylabel="coupling strength a")
left.set_title("mean frequency (Hz)", fontsize=10)
figure.colorbar(image, ax=left)

nodes = result["tavg"][:, variable].reshape(*meta["sweep"]["shape"], -1)
for index in (0, 5, 10, 15):
    right.plot(speed, nodes[index].mean(axis=1), label=f"a = {coupling[index]:.2f}")
right.set(xlabel="conduction speed (m/s)", ylabel="mean frequency (Hz)")
right.legend(frameon=False, fontsize=8)
right.set_title("the same, as curves", fontsize=10)
figure.savefig(sys.argv[2], dpi=110)
