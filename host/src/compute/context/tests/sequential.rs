//! Any sequence of calls gives the bytes that it would give if every call ran at once, in the order
//! in which the calls were made, whatever order the device chooses.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Call {
    Upload(u8),
    Transient,
    Write(usize, u8),
    Prefetch(usize, u8),
    Join,
    Increment(usize),
    Scale(usize, usize),
    Fill(usize),
    Record(usize),
    Replay(usize),
    Read(usize),
    ReadBeside(usize),
    ReleaseOldest,
    ClearTransients,
    TakeCheckpoint,
    Restore,
}

fn call() -> impl Strategy<Value = Call> {
    let view = 0usize..8;
    prop_oneof![
        3 => any::<u8>().prop_map(Call::Upload),
        2 => Just(Call::Transient),
        3 => (view.clone(), any::<u8>()).prop_map(|(v, x)| Call::Write(v, x)),
        5 => (view.clone(), any::<u8>()).prop_map(|(v, x)| Call::Prefetch(v, x)),
        1 => Just(Call::Join),
        4 => view.clone().prop_map(Call::Increment),
        3 => (view.clone(), view.clone()).prop_map(|(a, b)| Call::Scale(a, b)),
        1 => view.clone().prop_map(Call::Fill),
        1 => view.clone().prop_map(Call::Record),
        2 => (0usize..3).prop_map(Call::Replay),
        2 => view.clone().prop_map(Call::Read),
        2 => view.prop_map(Call::ReadBeside),
        1 => Just(Call::ReleaseOldest),
        1 => Just(Call::ClearTransients),
        1 => Just(Call::TakeCheckpoint),
        1 => Just(Call::Restore),
    ]
}

const ELEMENTS: usize = 256;

/// The live views with the numbers that they must hold.
struct Model {
    views: Vec<(BufferView, Lifetime, [f32; ELEMENTS])>,
    graphs: Vec<(CapturedGraph<FakeDriver>, BufferView)>,
    checkpoint: Option<u64>,
}

impl Model {
    fn find(&self, index: usize) -> Option<usize> {
        (!self.views.is_empty()).then(|| index % self.views.len())
    }

    fn forget_released(&mut self, context: &ComputeContext<FakeDriver>) {
        self.views.retain(|(view, ..)| context.address_of(view).is_ok());
    }

    fn apply(
        &mut self,
        context: &mut ComputeContext<FakeDriver>,
        call: &Call,
    ) -> Result<(), ComputeError> {
        let increment = function(context, "increment");
        match *call {
            Call::Upload(x) => {
                let numbers = [f32::from(x); ELEMENTS];
                let view = context.allocate_and_write(bytes(&numbers), 0, 0)?;
                self.views.push((view, Lifetime::Kept, numbers));
            }
            Call::Transient => {
                let view = context.allocate_transient(ELEMENTS as u64 * 4, 0, 0)?;
                context.fill_view(&view, 0)?;
                self.views.push((view, Lifetime::Transient, [0.0; ELEMENTS]));
            }
            Call::Join => context.join_prefetch()?,
            Call::Replay(index) => {
                let Some((graph, view)) = self.graphs.get(index) else { return Ok(()) };
                context.launch_graph(graph)?;
                let held = self.views.iter_mut().find(|(held, ..)| held == view).unwrap();
                held.2.iter_mut().for_each(|x| *x += 1.0);
            }
            Call::ReleaseOldest => {
                if let Some((view, ..)) = self.views.first() {
                    context.advance_read_head(view.end())?;
                    self.forget_released(context);
                }
            }
            Call::ClearTransients => {
                context.clear_transient_allocations()?;
                self.views.retain(|(_, lifetime, _)| *lifetime == Lifetime::Kept);
            }
            Call::TakeCheckpoint => self.checkpoint = Some(context.write_checkpoint()),
            Call::Restore => {
                if let Some(checkpoint) = self.checkpoint.take() {
                    context.restore_checkpoint(checkpoint)?;
                    self.forget_released(context);
                }
            }
            Call::Scale(from, to) => {
                let (Some(from), Some(to)) = (self.find(from), self.find(to)) else {
                    return Ok(());
                };
                let scale = function(context, "scale");
                let arguments = Arguments::new()
                    .view(self.views[from].0)
                    .view(self.views[to].0)
                    .value(&(ELEMENTS as u64));
                context.launch(&scale, &SHAPE, &arguments)?;
                self.views[to].2 = self.views[from].2.map(|x| x * 2.0);
            }
            Call::Write(index, _)
            | Call::Prefetch(index, _)
            | Call::Increment(index)
            | Call::Fill(index)
            | Call::Record(index)
            | Call::Read(index)
            | Call::ReadBeside(index) => {
                let Some(index) = self.find(index) else { return Ok(()) };
                let (view, _, numbers) = &mut self.views[index];
                let launch = Arguments::new().view(*view).value(&(ELEMENTS as u32));
                let mut read = [f32::NAN; ELEMENTS];
                match *call {
                    // Half of the view only: the other half must stay.
                    Call::Write(_, x) => {
                        numbers[..ELEMENTS / 2].fill(f32::from(x));
                        context.write_view(view, bytes(&numbers[..ELEMENTS / 2]))?;
                    }
                    Call::Prefetch(_, x) => {
                        numbers[..ELEMENTS / 2].fill(f32::from(x));
                        context.write_view_prefetch(view, bytes(&numbers[..ELEMENTS / 2]))?;
                    }
                    Call::Increment(_) => {
                        context.launch(&increment, &SHAPE, &launch)?;
                        numbers.iter_mut().for_each(|x| *x += 1.0);
                    }
                    Call::Fill(_) => {
                        context.fill_view(view, 0)?;
                        numbers.fill(0.0);
                    }
                    Call::Record(_) => {
                        context.begin_graph_capture()?;
                        context.launch(&increment, &SHAPE, &launch)?;
                        self.graphs.push((context.end_graph_capture()?, *view));
                    }
                    Call::ReadBeside(_) => {
                        context.read_buffer_beside(view, bytemuck::cast_slice_mut(&mut read))?;
                        assert_eq!(read, *numbers);
                    }
                    _ => {
                        context.read_buffer_into(view, bytemuck::cast_slice_mut(&mut read))?;
                        assert_eq!(read, *numbers);
                    }
                }
            }
        }
        Ok(())
    }
}

#[test]
fn any_sequence_of_calls_gives_the_bytes_of_its_order() {
    let config = ProptestConfig { cases: 600, failure_persistence: None, ..Default::default() };
    proptest!(config, |(seed in 0u64..1_000, calls in prop::collection::vec(call(), 1..120))| {
        let driver = device(seed);
        // Room for 12 views, so that memory is recycled all the time.
        let mut context =
            ComputeContext::with_driver(Arc::clone(&driver), 12 * ELEMENTS as u64 * 4).unwrap();
        let mut model = Model { views: Vec::new(), graphs: Vec::new(), checkpoint: None };
        for call in &calls {
            match model.apply(&mut context, call) {
                Ok(()) | Err(ComputeError::OutOfSlab(_)) => {}
                Err(ComputeError::StaleView { .. }) if matches!(call, Call::Replay(_)) => {}
                Err(other) => panic!("{call:?}: {other}"),
            }
        }
        for (view, _, numbers) in &model.views {
            assert_eq!(context.read_buffer_f32(view).unwrap(), numbers);
        }
        drop(model);
        drop(context);
        assert_eq!(driver.violations(), Vec::<String>::new());
        assert_eq!(driver.leaks(), Vec::<String>::new());
    });
}
