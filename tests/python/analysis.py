"""Computes the statistics of a result with numpy and scipy, from the time courses in the same result.

With one argument, a folder: writes bold.npy, measured data for a run of the three-node example.
With two, the result and that folder: compares.
"""

import sys

import numpy as np
from scipy import signal, stats

if len(sys.argv) == 2:
    random = np.random.default_rng(7)
    mixing = np.array([[1, 0.4, 0], [0, 1, 0.3], [0.2, 0, 1]])
    np.save(sys.argv[1] + "/bold.npy", 1000 + random.normal(size=(4000, 3)).cumsum(0) @ mixing)
    sys.exit()

result = np.load(sys.argv[1], allow_pickle=False)
bold = np.load(sys.argv[2] + "/bold.npy")
raw = result["raw"][0]
seconds = (result["raw_time"][1] - result["raw_time"][0]) / 1000
length, step, segment = 500, 125, 256
upper = np.triu_indices(3, 1)


def same(name, expected, rtol=1e-9, atol=1e-12):
    np.testing.assert_allclose(result[name][0], expected, rtol=rtol, atol=atol, err_msg=name)


def connectivity_dynamics(series):
    starts = range(0, len(series) - length + 1, step)
    windows = [np.corrcoef(series[s : s + length].T)[upper] for s in starts]
    return np.corrcoef(windows)


same("mean", raw.mean(0))
same("variance", raw.var(0))
same("std", raw.std(0))
fc = np.corrcoef(raw.T)
same("fc", fc)
fcd = connectivity_dynamics(raw)
same("fcd", fcd)
middle = result["raw_time"][: length].mean()
np.testing.assert_allclose(result["fcd_window_a"], middle + step * seconds * 1000 * np.arange(len(fcd)))

frequency, density = signal.welch(raw.T, fs=1 / seconds, nperseg=segment)
np.testing.assert_allclose(result["spectrum_frequency"], frequency, rtol=1e-12)
same("spectrum", density, atol=1e-12 * density.max())
same("peak_frequency", frequency[density.argmax(1)])

phase = np.angle(signal.hilbert(raw - raw.mean(0), axis=0))
order = np.abs(np.exp(1j * phase).mean(1))
same("order_parameter", order)
same("mean_order_parameter", order.mean())
same("metastability", order.std())
locking = [np.abs(np.exp(1j * (phase[:, a] - phase[:, b])).mean()) for a, b in zip(*upper)]
same("phase_coherence", np.mean(locking))

empirical = np.corrcoef(bold.T)
np.testing.assert_allclose(result["empirical_fc"], empirical, rtol=1e-9)
same("fc_correlation", np.corrcoef(fc[upper], empirical[upper])[0, 1])
same("fc_rmse", np.sqrt(((fc[upper] - empirical[upper]) ** 2).mean()))
same("mean_fc_difference", fc[upper].mean() - empirical[upper].mean())

windows = np.triu_indices(len(fcd), 1)
distance = stats.ks_2samp(fcd[windows], connectivity_dynamics(bold)[np.triu_indices(29, 1)])
same("fcd_ks", distance.statistic)

# First-order Volterra kernel at steps of 4 ms, cut after 20 s as tvb-library does.
tavg = result["temporal_average"][0]
t = np.arange(5000) * 0.004
omega = np.sqrt(1 / 0.4 - 1 / (4 * 0.8**2))
kernel = np.exp(-0.5 * t / 0.8) * np.sin(omega * t) / omega / 3
response = np.stack([np.convolve(node, kernel)[: len(node)] for node in tavg.T], axis=1)
same("volterra_bold", 5.6 * 0.02 * (response[24::25] - 1))
print("ok")
