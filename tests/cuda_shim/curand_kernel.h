/* Enough of CUDA C++ and cuRAND's Philox to run a kernel on the CPU: blocks one after another, the
 * threads of a block as threads that meet at barriers.
 *
 * Philox4x32-10: Salmon et al. 2011. Words are laid out as in docs/semantics.md. */
#pragma once

#include <barrier>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static /* Blocks don't overlap in time. */

struct Index {
    unsigned int x;
};
inline thread_local Index threadIdx, blockIdx, blockDim;
inline std::barrier<> *block_barrier;

inline void __syncthreads() { block_barrier->arrive_and_wait(); }

inline float __int_as_float(unsigned int bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline float __uint_as_float(unsigned int bits) { return __int_as_float(bits); }

inline unsigned int __float_as_uint(float value)
{
    unsigned int bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline double __longlong_as_double(unsigned long long bits)
{
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

using std::isfinite;

struct float2 {
    float x, y;
};

inline float __fsqrt_rn(float value) { return sqrtf(value); }

/* Better than the hardware's. */
inline void __sincosf(float angle, float *sine, float *cosine)
{
    *sine = sinf(angle);
    *cosine = cosf(angle);
}

struct curandStatePhilox4_32_10_t {
    uint64_t seed, subsequence, offset;
};

inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                        unsigned long long offset, curandStatePhilox4_32_10_t *state)
{
    *state = {seed, subsequence, offset};
}

inline uint32_t curand(curandStatePhilox4_32_10_t *state)
{
    const uint64_t block = state->offset / 4;
    uint32_t c[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)state->subsequence,
                     (uint32_t)(state->subsequence >> 32)};
    uint32_t k[2] = {(uint32_t)state->seed, (uint32_t)(state->seed >> 32)};
    for (int round = 0; round < 10; ++round) {
        const uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
        const uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b,
                                  (uint32_t)(a >> 32) ^ c[3] ^ k[1], (uint32_t)a};
        std::memcpy(c, next, sizeof c);
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
    return c[state->offset++ % 4];
}
