/* Runs the kernel of the source KERNEL: reads its arguments from standard input, writes tavg, the states
 * and nonfinite_step to standard output, as 64-bit numbers. argv: threads of a block, launches. */
#include <curand_kernel.h>

#include KERNEL

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static void need(bool good)
{
    if (!good) {
        std::fputs("can't read the arguments or write the results\n", stderr);
        std::exit(2);
    }
}

static double number()
{
    double value;
    need(std::fread(&value, sizeof value, 1, stdin) == 1);
    return value;
}

/* A length and so many numbers. */
template <typename T> static std::vector<T> array()
{
    std::vector<T> values((size_t)number());
    for (T &value : values)
        value = (T)number();
    return values;
}

template <typename T> static void write(const std::vector<T> &values)
{
    for (const T value : values) {
        const double wide = (double)value;
        need(std::fwrite(&wide, sizeof wide, 1, stdout) == 1);
    }
}

int main(int argc, char **argv)
{
    need(argc == 3);
    const unsigned threads = (unsigned)std::atoi(argv[1]);
    const long long launches = std::atoll(argv[2]);
    const unsigned n_item = (unsigned)number();
    const int n_node = (int)number();
    const long long n_step = (long long)number();
    const double dt = number();
    const unsigned long long seed = (unsigned long long)number();
    const long long n_transient = (long long)number();
    const int n_ring = (int)number();
    const auto parameters = array<real>(), node_parameters = array<real>(), weights = array<real>();
    const auto delays = array<int>(), delay_class = array<int>();
    auto state = array<real>();
    std::vector<real> history((size_t)n_item * n_ring * N_CHANNEL * n_node);
    std::vector<real> accumulator((size_t)n_item * 2 * N_RECORDED * n_node);
    std::vector<real> tavg((size_t)n_item * N_RECORDED * n_node);
    std::vector<long long> nonfinite_step(n_item);

    const long long each = (n_step + launches - 1) / launches;
    for (long long first = 0; first < n_step; first += each) {
        const int steps = (int)(first + each > n_step ? n_step - first : each);
        for (unsigned item = 0; item < n_item; ++item) {
            std::barrier<> meeting(threads);
            block_barrier = &meeting;
            const auto thread = [&](unsigned index) {
                threadIdx.x = index;
                blockIdx.x = item;
                blockDim.x = threads;
                simulate(first, n_node, steps, dt, seed, 0, n_transient, n_ring, parameters.data(),
                         node_parameters.data(), weights.data(), delays.data(), delay_class.data(),
                         state.data(), history.data(), accumulator.data(), tavg.data(),
                         nonfinite_step.data());
                meeting.arrive_and_drop();
            };
            std::vector<std::thread> others;
            for (unsigned index = 1; index < threads; ++index)
                others.emplace_back(thread, index);
            thread(0);
            for (std::thread &other : others)
                other.join();
        }
    }
    write(tavg);
    write(state);
    write(nonfinite_step);
    need(std::fflush(stdout) == 0);
}
