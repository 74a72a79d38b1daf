/*
 * Kuramoto sweep, coupling x conduction speed
 *
 * Collective frequency of a connectome of 40 Hz oscillators, for 16 couplings and 16 conduction speeds.
 *
 * Written by host 0.1.0 from kuramoto_sweep.yaml:
 *   host export kuramoto_sweep.yaml -o kernel.cu
 * Model Kuramoto, 84 nodes, Heun's scheme.
 * The experiment: dt = 0.1, 10000 steps that are recorded after 2000 that are not (n_transient),
 * 256 work items, seed 42. Time is in ms.
 *
 * `simulate` advances every work item by n_step steps, from step i_step. A work item, one parameter set of
 * the whole network, is one block; its nodes are shared out over the threads of the block, of which there
 * may be any number. Launch it with gridDim.x = work items, blockDim.x = 128 for instance, and as often as
 * wanted: i_step = 0 first, then where the last launch ended. After each, `state` is the state at
 * t = (i_step + n_step) dt: to sample it every n steps, launch n steps at a time.
 *
 * Arguments; arrays are in C order, `real` is the type below, node i receives from node j:
 *   i_step         the first step of this launch; 0 sets up history, accumulator and nonfinite_step
 *   n_node         nodes of the network
 *   n_step         steps of this launch
 *   dt             step size, in the model's unit of time
 *   seed           of the noise
 *   first_item     number of the first work item in the whole sweep, 0 if they are not split up
 *   n_transient    steps at the beginning that tavg leaves out
 *   n_ring         steps that the history holds: at least the longest delay + 1
 *   parameters     [item][N_PARAMETER]
 *   node_parameters  [parameter][node]; not read where there are none
 *   weights        [matrix][i][j]; 0 is no connection
 *   delays         [class][i][j] in steps: rint(tract length in mm / speed in mm/ms / dt in ms); they
 *                  belong to dt
 *   delay_class    [item]: which of the delays a work item has
 *   state          [item][N_STATE][node], in: initial values, out: the state after this launch
 *   history        [item][n_ring][N_CHANNEL][node], scratch that is kept between launches
 *   accumulator    [item][2][N_RECORDED][node], scratch that is kept between launches
 *   tavg           [item][N_RECORDED][node], out: means over the recorded steps so far
 *   nonfinite_step [item], out: the step at which a work item left the finite numbers, where it stops and
 *                  its tavg is NaN; -1 for the others
 *
 * State variables, N_STATE:
 *     0  theta, rad
 *
 * Recorded variables, N_RECORDED:
 *     0  theta
 *     1  frequency, from the start of the step
 *
 * Parameters, N_PARAMETER:
 *     0  omega = 0.25132741228718347 rad_per_ms
 *     1  c_glob.a: swept
 *     2  theta.sigma = 0.02
 *
 * Arithmetic is in 32 bits; functions are CUDA's own (expf, sinf, ...), so that results agree with `host run`
 * to a few units in the last place of every step, not to the bit: to 1e-5 over a thousand steps in 32 bits,
 * unless the model is chaotic. The order of summation is that of `host run`. Compile without contraction:
 *   nvcc -fmad=false -cubin -arch=native kernel.cu
 *   nvrtc: --fmad=false, and the include folders of CUDA: include, and include/cccl where it exists
 *   PyCUDA: SourceModule(text, options=["-fmad=false"], no_extern_c=True).get_function("simulate")
 * Noise is Philox4x32-10 as in cuRAND: each node of each work item has its own subsequence, numbered by step,
 * so that it depends on the seed only, not on how the steps are split into launches.
 * The normals are those of `host run`, to the bit and with any option of the compiler but -use_fast_math: see
 * normal_pair. They are not those of curand_normal, which takes the hardware's sine and cosine; for these
 * export with `--normal curand`.
 */
#include <curand_kernel.h>

typedef float real;

#define N_STATE 1
#define N_PARAMETER 3
#define N_CHANNEL 2
#define N_GATHER 2
#define N_COUPLING 1
#define N_NOISY 1
#define N_OBSERVED 1
#define N_RECORDED 2
#define FAR_DELAY 32
#define MIDDLE_DELAY 8

/* Two standard normals from two words: Box and Muller with a logarithm, sine and cosine in operations that round as
 * IEEE 754 says, so that every device has the same bits. Nothing in it can be contracted. */
static __device__ __forceinline__ float2 normal_pair(const unsigned int x, const unsigned int y)
{
    /* (x + 1/2) 2^-32 and 2 pi (y + 1/2) 2^-32. */
    const float u = fmaf((float)x, 2.3283064e-10f, 1.1641532e-10f);
    const float v = fmaf((float)y, 1.4629181e-9f, 7.3145906e-10f);
    /* u = 2^k (1 + f) with 1 + f from 2/3 to 4/3; ln u = k ln 2 + ln(1 + f). */
    const unsigned int bits = __float_as_uint(u);
    const int k = (int)((bits + 0x3f800000u - 0x3f2aaaaau) >> 23) - 127;
    const float f = __uint_as_float(bits - ((unsigned int)k << 23)) - 1.0f;
    const float square = f * f;
    float tail = -0.1288548f;
    tail = fmaf(tail, f, 0.13986884f);
    tail = fmaf(tail, f, -0.121857464f);
    tail = fmaf(tail, f, 0.14005308f);
    tail = fmaf(tail, f, -0.16680375f);
    tail = fmaf(tail, f, 0.20010446f);
    tail = fmaf(tail, f, -0.249998f);
    tail = fmaf(tail, f, 0.33333215f);
    tail = fmaf(f * square, tail, square * -0.5f);
    const float logarithm = fmaf((float)k, 0.69314575f, f + fmaf((float)k, 1.4286068e-6f, tail));
    const float radius = __fsqrt_rn(-2.0f * logarithm);
    /* v = n pi/2 + r with n to nearest, by way of a number so large that its last bit is 1. */
    const float shifted = fmaf(v, 0.63661975f, 12582912.0f);
    const unsigned int n = __float_as_uint(shifted) - 0x4b400000u;
    const float turns = shifted - 12582912.0f;
    const float r = fmaf(turns, -7.5497894e-8f, fmaf(turns, -1.5707963f, v));
    const float z = r * r;
    const float sine = fmaf(r * z, fmaf(fmaf(-0.0001948486f, z, 0.008331928f), z, -0.16666651f), r);
    const float cosine =
        fmaf(z, fmaf(z, fmaf(fmaf(2.439533e-5f, z, -0.0013886968f), z, 0.041666638f), -0.5f), 1.0f);
    const float first = (n & 1u) == 0u ? sine : cosine;
    const float second = (n & 1u) == 0u ? cosine : sine;
    float2 pair;
    pair.x = radius * ((n & 2u) == 0u ? first : -first);
    pair.y = radius * (((n + 1u) & 2u) == 0u ? second : -second);
    return pair;
}

/* What a node sends to the others. */
static __device__ __forceinline__ void emit(const real *x, real *h)
{
    const real x_theta = x[0];
    h[0] = sinf(x_theta); /* channel 0 */
    h[1] = cosf(x_theta); /* channel 1 */
}

/* The coupling inputs of a node, from its weighted sums. */
static __device__ __forceinline__ void post(const real *x, const real *g, const real *p, real *c)
{
    const real x_theta = x[0];
    const real p_c_glob_a = p[1];
    c[0] = p_c_glob_a * (g[0] * cosf(x_theta) - g[1] * sinf(x_theta)); /* c_glob */
}

/* Recorded variables that are not states. */
static __device__ __forceinline__ void observe(const real *c, const real *p, real *o)
{
    const real c_c_glob = c[0];
    const real p_omega = p[0];
    o[0] = 1000.0f * (p_omega + c_c_glob) / (2.0f * 3.1415927f); /* frequency */
}

/* The amplitude of the noise. */
static __device__ __forceinline__ void diffusion(const real *p, real *sigma)
{
    const real p_theta_sigma = p[2];
    sigma[0] = p_theta_sigma; /* theta */
}

/* The derivatives of the state variables. */
static __device__ __forceinline__ void drift(const real *c, const real *p, real *dx)
{
    const real c_c_glob = c[0];
    const real p_omega = p[0];
    dx[0] = p_omega + c_c_glob; /* theta */
}

extern "C" __global__ void simulate(
    const long long i_step,
    const int n_node,
    const int n_step,
    const double dt,
    const unsigned long long seed,
    const long long first_item,
    const long long n_transient,
    const int n_ring,
    const real *parameters,
    const real *node_parameters,
    const real *weights,
    const int *delays,
    const int *delay_class,
    real *state,
    real *history,
    real *accumulator,
    real *tavg,
    long long *nonfinite_step)
{
    /* This work item's part of the arrays. */
    const size_t item = blockIdx.x;
    real *const x_item = state + item * N_STATE * n_node;
    real *const sums = accumulator + item * 2 * N_RECORDED * n_node;
    real *const means = tavg + item * N_RECORDED * n_node;
    const real *const p = parameters + item * N_PARAMETER;
    real *const ring = history + item * n_ring * N_CHANNEL * n_node;
    const int *const delay = delays + (size_t)delay_class[item] * n_node * n_node;
    /* Each rounded once to the precision of the run. */
    const real dt_half = (real)(dt / 2.0);
    const real dt_root = (real)sqrt(dt);

    /* Whether a node has left the finite numbers. */
    __shared__ int exploded;

    if (i_step == 0) {
        /* The first launch: nothing is summed yet, and the past is that of the initial state. */
        for (int i = threadIdx.x; i < n_node; i += blockDim.x) {
            for (int m = 0; m < 2 * N_RECORDED; ++m)
                sums[(size_t)m * n_node + i] = 0;
            real x[N_STATE];
            for (int s = 0; s < N_STATE; ++s)
                x[s] = x_item[(size_t)s * n_node + i];
            real h[N_CHANNEL];
            emit(x, h);
            for (int slot = 0; slot < n_ring; ++slot)
                for (int m = 0; m < N_CHANNEL; ++m)
                    ring[((size_t)slot * N_CHANNEL + m) * n_node + i] = h[m];
        }
        if (threadIdx.x == 0)
            nonfinite_step[item] = -1;
    }
    if (threadIdx.x == 0)
        exploded = 0;
    __syncthreads();
    if (nonfinite_step[item] >= 0)
        return;

    for (int step = 0; step < n_step; ++step) {
        /* Step k makes state k + 1; t = k dt. */
        const long long k = i_step + step;

        /* Emit: what every node sends enters the history. */
        const int now = (int)(k % n_ring);
        for (int i = threadIdx.x; i < n_node; i += blockDim.x) {
            real x[N_STATE];
            for (int s = 0; s < N_STATE; ++s)
                x[s] = x_item[(size_t)s * n_node + i];
            real h[N_CHANNEL];
            emit(x, h);
            for (int m = 0; m < N_CHANNEL; ++m)
                ring[((size_t)now * N_CHANNEL + m) * n_node + i] = h[m];
        }
        __syncthreads();

        for (int i = threadIdx.x; i < n_node; i += blockDim.x) {
            real x[N_STATE];
            for (int s = 0; s < N_STATE; ++s)
                x[s] = x_item[(size_t)s * n_node + i];

            /* Gather: weighted sums over the afferents j of this node. */
            real g[N_GATHER];
            for (int r = 0; r < N_GATHER; ++r)
                g[r] = 0;
            {
                const real *const w = weights + (size_t)i * n_node;
                const int *const d = delay + (size_t)i * n_node;
                for (int pass = 0; pass < 3; ++pass) {
                    for (int j = 0; j < n_node; ++j) {
                        /* Far, middle, near: pass 0, 1, 2. */
                        const int part = (d[j] < FAR_DELAY) + (d[j] < MIDDLE_DELAY);
                        if (w[j] == 0 || part != pass)
                            continue;
                        const int past = now >= d[j] ? now - d[j] : now - d[j] + n_ring;
                        const real *const source = ring + (size_t)past * N_CHANNEL * n_node + j;
                        g[0] = fmaf(w[j], source[0 * n_node], g[0]);
                        g[1] = fmaf(w[j], source[1 * n_node], g[1]);
                    }
                }
            }
            /* A sum that is zero is +0. */
            for (int r = 0; r < N_GATHER; ++r)
                g[r] += (real)0;

            /* The coupling inputs, frozen over the step. */
            real c[N_COUPLING];
            post(x, g, p, c);

            /* Recorded variables that are not states, from the start of the step. */
            real o[N_OBSERVED];
            observe(c, p, o);

            /* Normal number k N_NOISY + v of this node's subsequence; they come in pairs. */
            real xi[N_NOISY];
            real sigma[N_NOISY];
            diffusion(p, sigma);
            const unsigned long long number = (unsigned long long)k * N_NOISY;
            const unsigned long long node = ((first_item + item) << 32) | (unsigned int)i;
            curandStatePhilox4_32_10_t words;
            curand_init(seed, node, number & ~1ull, &words);
            float2 pair = {0.0f, 0.0f};
            for (int v = 0; v < N_NOISY; ++v) {
                const bool second = ((number + v) & 1ull) != 0;
                if (v == 0 || !second) {
                    const unsigned int w = curand(&words);
                    pair = normal_pair(w, curand(&words));
                }
                xi[v] = sigma[v] * dt_root * (real)(second ? pair.y : pair.x);
            }

            /* Integrate. */
            real k1[N_STATE];
            drift(c, p, k1);
            real k2[N_STATE];
            drift(c, p, k2);
            real y[N_STATE];
            for (int s = 0; s < N_STATE; ++s)
                y[s] = fmaf(dt_half, k1[s] + k2[s], x[s]);
            y[0] += xi[0];

            int finite = 1;
            for (int s = 0; s < N_STATE; ++s) {
                x_item[(size_t)s * n_node + i] = y[s];
                finite &= isfinite(y[s]) ? 1 : 0;
            }
            if (!finite)
                exploded = 1;

            if (k >= n_transient) {
                /* Compensated sums (Kahan 1965): they lose no digits over many steps. */
                const real value[N_RECORDED] = {y[0], o[0]};
                for (int m = 0; m < N_RECORDED; ++m) {
                    real *const sum = sums + (size_t)m * n_node + i;
                    real *const error = sum + (size_t)N_RECORDED * n_node;
                    const real term = value[m] - *error;
                    const real next = *sum + term;
                    *error = (next - *sum) - term;
                    *sum = next;
                }
            }
        }
        /* All nodes are done before the history's oldest step is overwritten. */
        __syncthreads();
        if (exploded) {
            if (threadIdx.x == 0)
                nonfinite_step[item] = k;
            for (int i = threadIdx.x; i < n_node; i += blockDim.x)
                for (int m = 0; m < N_RECORDED; ++m)
                    means[(size_t)m * n_node + i] = __int_as_float(0x7fc00000);
            return;
        }
    }

    /* The means of all recorded steps so far; NaN of none. */
    const long long recorded = i_step + n_step - n_transient;
    for (int i = threadIdx.x; i < n_node; i += blockDim.x)
        for (int m = 0; m < N_RECORDED; ++m)
            means[(size_t)m * n_node + i] =
                recorded > 0 ? sums[(size_t)m * n_node + i] / (real)recorded
                             : __int_as_float(0x7fc00000);
}
