/* The kernel of the source KERNEL as a library: one launch, with the kernel's own arguments. */
#include <curand_kernel.h>

#include KERNEL

extern "C" void launch(unsigned blocks, long long i_step, int n_node, int n_step, double dt,
                       unsigned long long seed, long long first_item, long long n_transient,
                       int n_ring, void *const *arrays)
{
    /* One thread a block: any number gives the same. */
    std::barrier<> meeting(1);
    block_barrier = &meeting;
    threadIdx.x = 0;
    blockDim.x = 1;
    for (unsigned item = 0; item < blocks; ++item) {
        blockIdx.x = item;
        simulate(i_step, n_node, n_step, dt, seed, first_item, n_transient, n_ring,
                 (const real *)arrays[0], (const real *)arrays[1], (const real *)arrays[2],
                 (const int *)arrays[3], (const int *)arrays[4], (real *)arrays[5],
                 (real *)arrays[6], (real *)arrays[7], (real *)arrays[8], (long long *)arrays[9]);
    }
}
