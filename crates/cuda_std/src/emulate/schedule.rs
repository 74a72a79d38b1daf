//! Whose turn it is.
//!
//! Exactly one thread of a block runs at a time. The others wait for a turn, at the block's
//! barrier, or for lanes of their warp. When nobody can run and not everybody has returned, the
//! threads have diverged.

use super::{Dim3, EmulationError, WARP};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The order in which threads that can run get their turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// From the first thread to the last.
    #[default]
    Ascending,
    /// From the last thread to the first.
    Descending,
    /// Shuffled, the same for the same seed.
    Shuffled(u64),
}

impl Order {
    fn threads(self, count: usize) -> Vec<usize> {
        let mut threads: Vec<usize> = (0..count).collect();
        match self {
            Self::Ascending => {}
            Self::Descending => threads.reverse(),
            // The value SplitMix64 (Steele et al. 2014) gives a thread decides its place.
            Self::Shuffled(seed) => threads.sort_by_key(|&thread| splitmix64(seed, thread as u64)),
        }
        threads
    }
}

fn splitmix64(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add((index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What the lanes of a warp gave in an exchange.
pub(super) type Exchanged = [u64; WARP];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Ready,
    AtBarrier,
    InWarp { mask: u32, value: u64 },
    Returned,
}

struct State {
    statuses: Vec<Status>,
    exchanged: Vec<Exchanged>,
    /// The block that runs, and the thread in it whose turn it is.
    block: u64,
    turn: usize,
    failure: Option<EmulationError>,
}

/// The turns of all threads in all blocks of a launch.
pub(super) struct Schedule {
    state: Mutex<State>,
    wake: Vec<Condvar>,
    order: Vec<usize>,
    grid_dim: Dim3,
}

/// The launch has failed elsewhere, and this thread shall end.
#[derive(Debug)]
pub(super) struct Abandoned;

impl Schedule {
    pub(super) fn new(grid_dim: Dim3, threads: usize, order: Order) -> Self {
        let order = order.threads(threads);
        let state = State {
            statuses: vec![Status::Ready; threads],
            exchanged: vec![[0; WARP]; threads],
            block: 0,
            turn: order[0],
            failure: None,
        };
        let wake = (0..threads).map(|_| Condvar::new()).collect();
        Self { state: Mutex::new(state), wake, order, grid_dim }
    }

    /// Waits for the thread's first turn in a block.
    pub(super) fn enter(&self, block: u64, thread: usize) -> Result<(), Abandoned> {
        self.wait(self.lock(), block, thread).map(drop)
    }

    /// Waits for all threads of the block.
    pub(super) fn barrier(&self, thread: usize) -> Result<(), Abandoned> {
        let mut state = self.lock();
        let block = state.block;
        state.statuses[thread] = Status::AtBarrier;
        if state.statuses.iter().all(|status| *status == Status::AtBarrier) {
            state.statuses.fill(Status::Ready);
        }
        self.pass_turn(&mut state, thread);
        self.wait(state, block, thread).map(drop)
    }

    /// Gives a value to the lanes in `mask` and gets theirs. Lanes outside the mask read as 0.
    pub(super) fn exchange(
        &self,
        thread: usize,
        mask: u32,
        value: u64,
    ) -> Result<Exchanged, Abandoned> {
        let mut state = self.lock();
        let block = state.block;
        state.statuses[thread] = Status::InWarp { mask, value };
        state.complete_exchange(thread / WARP * WARP, mask);
        self.pass_turn(&mut state, thread);
        self.wait(state, block, thread).map(|state| state.exchanged[thread])
    }

    /// Ends the thread's part in the block; the last one begins the next block. `next_block` is
    /// called between the two.
    pub(super) fn leave(&self, thread: usize, next_block: impl FnOnce()) {
        let mut state = self.lock();
        state.statuses[thread] = Status::Returned;
        if state.statuses.iter().all(|status| *status == Status::Returned) {
            next_block();
            state.block += 1;
            state.statuses.fill(Status::Ready);
            self.give_turn(&mut state, self.order[0]);
        } else {
            self.pass_turn(&mut state, thread);
        }
    }

    /// Ends the launch for all threads. The first failure counts.
    pub(super) fn fail(&self, failure: EmulationError) {
        self.fail_locked(&mut self.lock(), failure);
    }

    /// How the launch ended. To be asked once, when all threads have.
    pub(super) fn result(&self) -> Result<(), EmulationError> {
        self.lock().failure.take().map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code of the kernel's runs under the lock, so the state is whole even after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        block: u64,
        thread: usize,
    ) -> Result<MutexGuard<'a, State>, Abandoned> {
        loop {
            if state.failure.is_some() {
                return Err(Abandoned);
            }
            if state.block == block && state.turn == thread {
                return Ok(state);
            }
            state = self.wake[thread].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives the turn to the next thread that can run.
    fn pass_turn(&self, state: &mut State, from: usize) {
        let at = self.order.iter().position(|&thread| thread == from).map_or(0, |at| at + 1);
        let (before, after) = self.order.split_at(at);
        let ready = |&&thread: &&usize| state.statuses[thread] == Status::Ready;
        match after.iter().chain(before).find(ready) {
            Some(&next) => self.give_turn(state, next),
            None => {
                let failure = state.divergence(self.grid_dim.place(state.block));
                self.fail_locked(state, failure);
            }
        }
    }

    fn give_turn(&self, state: &mut State, thread: usize) {
        state.turn = thread;
        self.wake[thread].notify_one();
    }

    fn fail_locked(&self, state: &mut State, failure: EmulationError) {
        state.failure.get_or_insert(failure);
        for wake in &self.wake {
            wake.notify_one();
        }
    }
}

impl State {
    /// Lets the lanes of a mask go on once all of them are here.
    fn complete_exchange(&mut self, first_lane: usize, mask: u32) {
        let mut values = [0; WARP];
        let lanes = || (0..WARP).filter(|lane| mask >> lane & 1 == 1);
        for lane in lanes() {
            match self.statuses.get(first_lane + lane) {
                Some(&Status::InWarp { mask: theirs, value }) if theirs == mask => {
                    values[lane] = value;
                }
                // A full mask in the last warp of a block covers lanes that do not exist.
                None => {}
                Some(_) => return,
            }
        }
        let present = self.statuses.len() - first_lane;
        for lane in lanes().filter(|&lane| lane < present) {
            self.statuses[first_lane + lane] = Status::Ready;
            self.exchanged[first_lane + lane] = values;
        }
    }

    fn divergence(&self, block: Dim3) -> EmulationError {
        let count =
            |wanted: fn(&Status) -> bool| self.statuses.iter().filter(|s| wanted(s)).count();
        EmulationError::Divergence {
            block,
            at_barrier: count(|status| *status == Status::AtBarrier),
            in_warp: count(|status| matches!(status, Status::InWarp { .. })),
            returned: count(|status| *status == Status::Returned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_gives_every_thread_a_turn() {
        for order in [Order::Ascending, Order::Descending, Order::Shuffled(7)] {
            let mut threads = order.threads(100);
            threads.sort_unstable();
            assert!(threads.into_iter().eq(0..100), "{order:?}");
        }
        assert_ne!(Order::Shuffled(7).threads(100), Order::Shuffled(8).threads(100));
    }

    #[test]
    fn splitmix64_gives_the_published_sequence() {
        // The first values for seed 1234567 of the reference implementation.
        let values = [0, 1, 2].map(|index| splitmix64(1_234_567, index));
        assert_eq!(
            values,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
