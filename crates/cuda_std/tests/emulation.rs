//! Runs the test kernels under the emulation and compares with plain Rust.

use cuda_std::emulate::{DevicePointer, EmulationError, Launch, Order, launch};
use cuda_std::slot::Bits;
use cuda_std_test_kernels::{copies, counters, reduce, slots, sort, vectors};

/// Every kernel without a mistake must give the same in all of them.
const ORDERS: [Order; 3] = [Order::Ascending, Order::Descending, Order::Shuffled(1)];

/// Integers below `bound` that look random: a multiplicative hash of the index.
fn scattered(count: usize, bound: u32) -> Vec<u32> {
    (1..=count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) % bound).collect()
}

#[test]
fn block_sums_are_the_sums() {
    // Small integers: their sums are exact in any order.
    let mut values: Vec<f32> = scattered(3 * 128, 100).into_iter().map(|v| v as f32).collect();
    let expected: Vec<f32> = values.chunks(128).map(|block| block.iter().sum()).collect();
    for order in ORDERS {
        let mut sums = vec![0.0; 3];
        let (from, to) = (DevicePointer::new(&mut values), DevicePointer::new(&mut sums));
        Launch::new(3, 128)
            .shared_bytes(4 * 4)
            .order(order)
            // SAFETY: 3 blocks of 4 warps.
            .run(|| unsafe { reduce::block_sums(from.as_ptr(), to.as_mut_ptr()) })
            .unwrap();
        assert_eq!(sums, expected, "{order:?}");
    }
}

#[test]
fn sorting_takes_as_many_barriers_as_values() {
    let values: Vec<f32> = scattered(2 * 100, 1000).into_iter().map(|v| v as f32).collect();
    let mut expected = values.clone();
    expected.chunks_mut(100).for_each(|block| block.sort_by(f32::total_cmp));
    for order in ORDERS {
        let mut sorted = values.clone();
        let pointer = DevicePointer::new(&mut sorted);
        Launch::new(2, 100)
            .shared_bytes(400)
            .order(order)
            // SAFETY: 2 blocks of 100 threads.
            .run(|| unsafe { sort::sort_blocks(pointer.as_mut_ptr()) })
            .unwrap();
        assert_eq!(sorted, expected, "{order:?}");
    }
}

/// The lane a shuffle reads, or `None` outside the lane's part, as the PTX manual tabulates it.
fn source(kind: usize, lane: i32, distance: i32, width: i32) -> Option<i32> {
    let (first, last) = (lane / width * width, lane / width * width + width - 1);
    let (lane, inside) = match kind {
        0 => (lane ^ distance, (lane ^ distance) <= last),
        1 => (lane + distance, lane + distance <= last),
        2 => (lane - distance, lane - distance >= first),
        _ => (first + distance % width, true),
    };
    inside.then_some(lane)
}

#[test]
fn shuffles_read_the_lanes_of_the_manual() {
    for (width, distance) in [(32, 1), (32, 17), (16, 3), (8, 5), (4, 2), (2, 1)] {
        let mut seen = vec![0; 4 * 64];
        let pointer = DevicePointer::new(&mut seen);
        // SAFETY: one block of 64 threads, 4 values each.
        launch(1, 64, 0, || unsafe { reduce::shuffles(width, distance, pointer.as_mut_ptr()) })
            .unwrap();
        for thread in 0..64 {
            for kind in 0..4 {
                let (warp, lane) = (thread / 32 * 32, thread % 32);
                let expected = source(kind, lane, distance as i32, width as i32)
                    .map_or(-1 - thread, |lane| warp + lane);
                let context = format!("kind {kind}, thread {thread}, {distance} of {width}");
                assert_eq!(seen[4 * thread as usize + kind], expected, "{context}");
            }
        }
    }
}

#[test]
fn wide_values_are_shuffled_whole() {
    let mut floats: Vec<f64> = (0..32).map(|i| f64::from(i) + 1e-9).collect();
    let mut integers: Vec<u64> = (0..32).map(|i| 0x1_0000_0001 * i).collect();
    let total: u64 = integers.iter().sum();
    let (f, i) = (DevicePointer::new(&mut floats), DevicePointer::new(&mut integers));
    // SAFETY: one warp.
    launch(1, 32, 0, || unsafe { reduce::butterfly(f.as_mut_ptr(), i.as_mut_ptr()) }).unwrap();
    assert_eq!(integers, [total; 32]);
    assert!(floats.iter().all(|sum| (sum - (496.0 + 32e-9)).abs() < 1e-12), "{floats:?}");
}

#[test]
fn votes_count_the_lanes() {
    let mut values: Vec<f32> = (0..32).map(|i| if i % 3 == 0 { i as f32 } else { -1.0 }).collect();
    let (mut front, mut votes) = (vec![0.0; 32], vec![7; 3]);
    let v = DevicePointer::new(&mut values);
    let (f, b) = (DevicePointer::new(&mut front), DevicePointer::new(&mut votes));
    // SAFETY: one warp.
    launch(1, 32, 0, || unsafe { reduce::compact(v.as_ptr(), f.as_mut_ptr(), b.as_mut_ptr()) })
        .unwrap();
    assert_eq!(front[..11], [3.0, 6.0, 9.0, 12.0, 15.0, 18.0, 21.0, 24.0, 27.0, 30.0, 0.0]);
    let bits = (0..32).filter(|i| *i > 0 && i % 3 == 0).fold(0_u32, |bits, i| bits | 1 << i);
    assert_eq!(votes, [bits, 0, 1]);
}

/// Values at an address that is a multiple of 16.
#[repr(align(16))]
struct Aligned<T>(T);

#[test]
fn copies_arrive_in_order() {
    const TILES: usize = 5;
    let mut values = Aligned([0.0_f32; TILES * 2 * 32]);
    values.0.iter_mut().zip(scattered(TILES * 64, 50)).for_each(|(v, s)| *v = s as f32);
    let weights = [1.0, 2.0, 3.0, 4.0, 5.0_f32];
    let expected: Vec<f32> = (0..32)
        .map(|thread| {
            let place = 2 * ((thread + 1) % 32);
            let pair = |tile: usize| values.0[tile * 64 + place] + values.0[tile * 64 + place + 1];
            (0..TILES).map(|tile| weights[tile] * pair(tile)).sum()
        })
        .collect();
    for order in ORDERS {
        let mut sums = vec![0.0; 32];
        let (from, to) = (DevicePointer::new(&mut values.0), DevicePointer::new(&mut sums));
        Launch::new(1, 32)
            .shared_bytes(2 * 64 * 4)
            .order(order)
            // SAFETY: one block of 32 threads, 5 tiles of 64 values.
            .run(|| unsafe {
                copies::weighted_tiles(5, &weights[0], from.as_ptr(), to.as_mut_ptr());
            })
            .unwrap();
        assert_eq!(sums, expected, "{order:?}");
    }
}

#[test]
fn pieces_of_16_bytes_are_moved_whole() {
    let mut from = Aligned([0_u32; 4 * 8]);
    from.0.iter_mut().enumerate().for_each(|(i, v)| *v = i as u32);
    let mut to = Aligned([0_u32; 4 * 8]);
    let (f, t) = (DevicePointer::new(&mut from.0), DevicePointer::new(&mut to.0));
    // SAFETY: one block of 8 threads, 4 values each.
    launch(1, 8, 8 * 16, || unsafe { copies::reverse_pieces(f.as_ptr(), t.as_mut_ptr()) }).unwrap();
    let expected: Vec<u32> = from.0.chunks(4).rev().flatten().copied().collect();
    assert_eq!(to.0.as_slice(), expected);
}

#[test]
fn a_copy_that_is_not_waited_for_has_not_arrived() {
    let (mut from, mut to) = (Aligned([1.0_f32, 2.0]), [0.0_f32]);
    let (f, t) = (DevicePointer::new(&mut from.0), DevicePointer::new(&mut to));
    // SAFETY: one thread.
    launch(1, 1, 8, || unsafe { copies::impatient(f.as_ptr(), t.as_mut_ptr()) }).unwrap();
    assert!(to[0].is_nan());
}

#[test]
fn atomics_lose_nothing() {
    let mut values = scattered(4 * 64, 10);
    let mut counts = vec![0; 10];
    let (v, c) = (DevicePointer::new(&mut values), DevicePointer::new(&mut counts));
    // SAFETY: 4 blocks of 64 threads, 10 bins.
    launch(4, 64, 40, || unsafe { counters::histogram(10, v.as_ptr(), c.as_mut_ptr()) }).unwrap();
    for bin in 0..10 {
        let expected = values.iter().filter(|&&value| value == bin).count();
        assert_eq!(counts[bin as usize] as usize, expected, "bin {bin}");
    }

    let (mut largest, mut sum32, mut sum64) = ([0], [0.0], [0.0]);
    let (l, s) = (DevicePointer::new(&mut largest), DevicePointer::new(&mut sum32));
    let d = DevicePointer::new(&mut sum64);
    // SAFETY: 4 blocks of 64 threads.
    launch(4, 64, 4, || unsafe {
        counters::largest_and_sums(v.as_ptr(), l.as_mut_ptr(), s.as_mut_ptr(), d.as_mut_ptr());
    })
    .unwrap();
    let sum: u32 = values.iter().sum();
    assert_eq!(Some(&largest[0]), values.iter().max());
    assert_eq!((sum32[0], sum64[0]), (sum as f32, f64::from(sum)));
}

#[test]
fn every_width_of_shared_memory_keeps_its_values() {
    let mut f: Vec<f32> = (0..64).map(|v| v as f32).collect();
    let mut u: Vec<u32> = (0..64).collect();
    let mut i: Vec<i32> = (0..64).map(|v| -v).collect();
    let mut d: Vec<f64> = (0..32).map(|v| f64::from(v) / 3.0).collect();
    let mut l: Vec<u64> = (0..32).map(|v| u64::MAX - v).collect();
    let (expected_d, expected_l) = (swapped(&d), swapped(&l));
    let (pf, pu, pi) =
        (DevicePointer::new(&mut f), DevicePointer::new(&mut u), DevicePointer::new(&mut i));
    let (pd, pl) = (DevicePointer::new(&mut d), DevicePointer::new(&mut l));
    // SAFETY: one block of 16 threads.
    launch(1, 16, 16 * 16, || unsafe {
        vectors::rotate_and_swap(
            pf.as_mut_ptr(),
            pu.as_mut_ptr(),
            pi.as_mut_ptr(),
            pd.as_mut_ptr(),
            pl.as_mut_ptr(),
        );
    })
    .unwrap();
    for (at, chunk) in u.chunks(4).enumerate() {
        let first = 4 * at as u32;
        assert_eq!(chunk, [first + 1, first + 2, first + 3, first]);
    }
    assert!(f.iter().zip(&u).all(|(f, u)| *f == *u as f32));
    assert!(i.iter().zip(&u).all(|(i, u)| -*i == *u as i32));
    assert_eq!((d, l), (expected_d, expected_l));
}

fn swapped<T: Copy>(values: &[T]) -> Vec<T> {
    values.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect()
}

#[test]
fn two_states_take_euler_steps_through_a_slot() {
    let mut states = vec![1.0_f32, 0.0, 2.0, 0.5];
    let mut expected = states.clone();
    for state in expected.chunks_mut(2) {
        for step in 0..10 {
            let time = step as f32 * 0.1;
            let drift = [state[1] + time, -state[0]];
            state[0] = 0.1_f32.mul_add(drift[0], state[0]);
            state[1] = 0.1_f32.mul_add(drift[1], state[1]);
        }
    }
    let pointer = DevicePointer::new(&mut states);
    Launch::new(1, 2)
        .slot("drift_f32_2_1", |inputs, outputs| {
            let [x, y, afferent, time] = [0, 1, 2, 3].map(|at| f32::from_bits(inputs[at] as u32));
            assert_eq!(x, afferent);
            outputs[0] = Bits::to_bits(y + time);
            outputs[1] = Bits::to_bits(-x);
        })
        // SAFETY: two threads, two states each.
        .run(|| unsafe { slots::euler_f32_2_1(10, 0.1, pointer.as_mut_ptr()) })
        .unwrap();
    assert_eq!(states, expected);
}

#[test]
fn a_slot_takes_and_gives_every_kind_of_operand() {
    let (mut parameters, mut f, mut u, mut d) = ([2.5_f32], [0.0_f32; 2], [0_u32], [0.25_f64]);
    let p = DevicePointer::new(&mut parameters);
    let (pf, pu) = (DevicePointer::new(&mut f), DevicePointer::new(&mut u));
    let pd = DevicePointer::new(&mut d);
    Launch::new(1, 1)
        .slot("mixed", |inputs, outputs| {
            let parameters: *const f32 = Bits::from_bits(inputs[0]);
            // SAFETY: the pointer the kernel was given.
            let first = unsafe { *parameters };
            let (index, sign): (u32, i32) =
                (Bits::from_bits(inputs[1]), Bits::from_bits(inputs[2]));
            let x: f64 = Bits::from_bits(inputs[3]);
            outputs[0] = first.to_bits().into();
            outputs[1] = Bits::to_bits(sign as f32);
            outputs[2] = Bits::to_bits(index + 7);
            outputs[3] = Bits::to_bits(x * 2.0);
        })
        // SAFETY: one thread.
        .run(|| unsafe {
            slots::mixed_operands(p.as_ptr(), pf.as_mut_ptr(), pu.as_mut_ptr(), pd.as_mut_ptr())
        })
        .unwrap();
    assert_eq!((f, u, d), ([2.5, -1.0], [7], [0.5]));
}

#[test]
fn a_slot_that_is_not_filled_is_named() {
    let mut states = [0.0_f32; 2];
    let pointer = DevicePointer::new(&mut states);
    // SAFETY: one thread, two states.
    let result = launch(1, 1, 0, || unsafe { slots::euler_f32_2_1(1, 0.1, pointer.as_mut_ptr()) });
    let Err(EmulationError::Panic { message, .. }) = result else { panic!("{result:?}") };
    assert!(message.contains("drift_f32_2_1"), "{message}");
}

#[test]
fn a_thread_that_returns_before_a_barrier_is_an_error_and_no_deadlock() {
    // SAFETY: in the emulation.
    let result = launch((2, 1), 64, 0, || unsafe { sort::diverging() });
    let Err(error) = result else { panic!("no error") };
    assert!(
        matches!(error, EmulationError::Divergence { at_barrier: 63, in_warp: 0, returned: 1, .. }),
        "{error}"
    );
}

#[test]
fn a_missing_barrier_shows_in_another_order() {
    let rotated = |order| {
        let mut values: Vec<f32> = (0..8).map(|v| v as f32).collect();
        let pointer = DevicePointer::new(&mut values);
        Launch::new(1, 8)
            .shared_bytes(32)
            .order(order)
            // SAFETY: one block of 8 threads.
            .run(|| unsafe { sort::racing_rotation(pointer.as_mut_ptr()) })
            .unwrap();
        values.iter().map(|value| value.to_bits()).collect::<Vec<_>>()
    };
    assert_ne!(rotated(Order::Ascending), rotated(Order::Descending));
    assert_eq!(rotated(Order::Shuffled(3)), rotated(Order::Shuffled(3)));
}

#[test]
fn an_access_outside_shared_memory_is_an_error() {
    let mut values = vec![0.0_f32; 4];
    let pointer = DevicePointer::new(&mut values);
    // SAFETY: too little shared memory, which the emulation checks.
    let result = launch(1, 4, 8, || unsafe { sort::sort_blocks(pointer.as_mut_ptr()) });
    let Err(EmulationError::Panic { thread, message, .. }) = result else { panic!("{result:?}") };
    assert_eq!(thread.x, 2);
    assert_eq!(message, "4 bytes of shared memory at 8: the block has 8");
}

#[test]
fn blocks_have_one_to_1024_threads() {
    for size in [0, 1025] {
        let result = launch(1, size, 0, || ());
        assert!(matches!(result, Err(EmulationError::BlockSize { .. })), "{size}");
    }
    assert!(launch(0, 1, 0, || panic!("an empty grid runs nothing")).is_ok());
}

#[test]
fn outside_a_launch_there_is_one_thread() {
    use cuda_std::thread;
    assert_eq!((thread::index_1d(), thread::block_dim_x(), thread::grid_dim_z()), (0, 1, 1));
    thread::sync_threads();
}
