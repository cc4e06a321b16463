//! State shared between the control loop and the board's other tasks, and the housekeeping task.

use core::cell::{Cell, RefCell};

use embassy_net::{IpAddress, Stack};
use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::channel::Channel;
use embassy_sync::signal::Signal;
use embassy_time::{Duration, Ticker, with_deadline};
use embedded_hal::digital::OutputPin;
use outrigger_core::client::dashboard::{ArmCommand, BrakeConditions, BrakeLine, BrakeRefusal, Outcome};
use outrigger_core::command::MAX_SOURCES;
use outrigger_core::engine::{Controller, Engine, Event, LinkId};
use outrigger_core::law::Law;
use outrigger_core::mode::{Mode, TimedFact};
#[cfg(feature = "motion")]
use outrigger_core::trajectory::Stored;
use outrigger_embassy::frame_monitor::{self, FrameMonitor};
use outrigger_embassy::heartbeat::Heartbeat;
use outrigger_embassy::link_watchdog::{InterfaceState, LinkWatchdog, Restart};
use outrigger_embassy::sensor::{Counted, Counters};
use outrigger_embassy::{ConnectionFault, Handle, Observer, now};
use outrigger_remote::telemetry::{Device, LinkActivity, NetworkCounts, Pace, PortReport, Sampler, StartStage};
use outrigger_wire::robot::{ControllerTime, RobotMode, SoftwareVersion};
use outrigger_wire::sensor::SourceId;
use outrigger_wire::time::Instant;

use crate::boot::{self, BootRecord, Clock};
use crate::dashboard_command_queue::{Asker, ServiceCommands};
use crate::lamp_patterns::Status;
use crate::log_event::{LogEvent, PeerEvent};
use crate::requests::control_loop_interface::Inquiry;
use crate::stack_usage::Gauge;

/// The number of log lines that can wait to be written. An end of commanding causes a handful.
const LINES: usize = 16;
/// The period in which the lamp is updated and the watchdog is fed.
const UPKEEP: Duration = Duration::from_millis(50);

/// The time without a change after which the kind of traffic from the robot's address is considered final and is
/// logged.
const ALL_THERE_IS: outrigger_wire::time::Duration = outrigger_wire::time::Duration::from_secs(3);

/// The age beyond which the last reported robot mode is considered unknown.
const MODE_IS_KNOWN_FOR: outrigger_wire::time::Duration = outrigger_wire::time::Duration::from_millis(300);

/// Returns the traffic from the robot that `monitor` has classified, as telemetry's type.
fn activity(monitor: &FrameMonitor) -> LinkActivity {
    match monitor.activity() {
        frame_monitor::LinkActivity::Silence => LinkActivity::Silence,
        frame_monitor::LinkActivity::Others => LinkActivity::Others,
        frame_monitor::LinkActivity::Address => LinkActivity::Address,
        frame_monitor::LinkActivity::Packets => LinkActivity::Packets,
    }
}

/// The facts that a board knows about its own start, clock and network interface.
#[derive(Clone, Copy)]
struct Origin {
    begun: &'static BootRecord,
    clock: Clock,
    monitor: &'static FrameMonitor,
}

/// The state shared between the control loop and the board's other tasks. The control loop only executes a few stores
/// to it.
pub struct Shared<const N: usize, P: Controller<N>> {
    lines: Channel<NoopRawMutex, LogEvent<P::Event>, LINES>,
    missed: Cell<u32>,
    armed: Cell<u32>,
    status: Cell<Status>,
    heartbeat: Cell<Heartbeat>,
    /// The message and error counters of the sensors: those of sensors without a valid source first, then one for each
    /// source.
    counters: [Counters; MAX_SOURCES + 1],
    stack: Gauge,
    sampler: RefCell<Sampler<'static, N, P>>,
    unsent: Cell<u32>,
    network: Cell<NetworkCounts>,
    origin: Cell<Option<Origin>>,
    /// The kind of traffic from the robot's address, the time of its last change, and whether it was logged.
    heard: Cell<(LinkActivity, Instant, bool)>,
    interface_restarts: Cell<u32>,
    stage: Cell<StartStage>,
    inquiry: Inquiry,
    service_commands: ServiceCommands,
    /// The address of the robot's dashboard server, if its kind has one.
    dashboard: Cell<Option<IpAddress>>,
    /// The controller's software and the robot's mode, as far as they are known.
    controller: Cell<(Option<SoftwareVersion>, Option<TimedFact<RobotMode>>)>,
    /// The outcome of the last request to release the brakes by the brake contact.
    brakes: Cell<Option<&'static str>>,
    /// The signal that the control loop has shut down.
    ended: Signal<NoopRawMutex, ()>,
    starts_anew: Cell<bool>,
}

impl<const N: usize, P: Controller<N, Event: PeerEvent>> Shared<N, P> {
    /// Returns the state of a board that has just started. `device` identifies it in
    /// telemetry, whose rate is `pace`.
    #[must_use]
    pub(crate) const fn new(device: Device<'static>, pace: Pace) -> Self {
        Self {
            lines: Channel::new(),
            missed: Cell::new(0),
            armed: Cell::new(0),
            status: Cell::new(Status::DARK),
            heartbeat: Cell::new(Heartbeat::NONE),
            counters: [const { Counters::new() }; MAX_SOURCES + 1],
            stack: Gauge::new(),
            sampler: RefCell::new(Sampler::new(device, pace)),
            unsent: Cell::new(0),
            network: Cell::new(NetworkCounts {
                bad: 0,
                unsent: 0,
                link_losses: 0,
                timeouts: 0,
                bus_errors: 0,
                restarts: 0,
            }),
            origin: Cell::new(None),
            heard: Cell::new((LinkActivity::Silence, Instant::ZERO, false)),
            interface_restarts: Cell::new(0),
            stage: Cell::new(StartStage::Tasks),
            inquiry: Inquiry::new(),
            service_commands: ServiceCommands::new(),
            dashboard: Cell::new(None),
            controller: Cell::new((None, None)),
            brakes: Cell::new(None),
            ended: Signal::new(),
            starts_anew: Cell::new(false),
        }
    }

    /// Returns the message and error counters of the sensor of `source`.
    pub(crate) fn counters(&self, source: SourceId) -> &Counters {
        let [others, of_sources @ ..] = &self.counters;
        of_sources.get(usize::from(source.0)).unwrap_or(others)
    }

    /// Sets the counts of the board's network controller and its driver since boot.
    pub fn set_network(&self, counts: NetworkCounts) {
        self.network.set(counts);
    }

    /// Stores the facts of this device's start, its clock, and the monitor of its network controller's frames, for
    /// telemetry.
    pub fn comes_from(&self, begun: &'static BootRecord, clock: Clock, monitor: &'static FrameMonitor) {
        self.origin.set(Some(Origin { begun, clock, monitor }));
    }

    /// Returns the number of network frames received since the boot; 0 without a monitor.
    fn frames(&self) -> u32 {
        self.origin.get().map_or(0, |origin| origin.monitor.frames())
    }

    /// Increments the count of telemetry datagrams that could not be sent.
    pub(crate) fn count_unsent(&self) {
        self.unsent.set(self.unsent.get().saturating_add(1));
    }

    /// Returns the mode of the engine in the control loop, as last observed.
    pub(crate) const fn mode(&self) -> Mode {
        self.status.get().mode
    }

    /// Makes the control loop bring the arm to rest and shut down, and waits until it has done so.
    #[cfg(feature = "provision")]
    pub(crate) async fn end(&self, robot: Handle<'_>) {
        self.starts_anew.set(true);
        robot.shutdown();
        self.ended.wait().await;
    }

    /// Records that the control loop has shut down.
    pub(crate) fn note_end(&self) {
        self.ended.signal(());
    }

    /// Returns whether this device is about to restart with other settings than those of this run.
    pub const fn starts_anew(&self) -> bool {
        self.starts_anew.get()
    }

    /// Sets the IP address of the robot's dashboard server.
    pub(crate) fn set_dashboard(&self, robot: IpAddress) {
        self.dashboard.set(Some(robot));
    }

    /// Returns the IP address of the robot's dashboard server, if its kind has one.
    pub(crate) const fn dashboard(&self) -> Option<IpAddress> {
        self.dashboard.get()
    }

    /// Returns the queue of commands to the robot's dashboard server.
    pub(crate) const fn service_commands(&self) -> &ServiceCommands {
        &self.service_commands
    }

    /// Processes the debounced state of the brake contact. If closing the contact requests the release of the brakes,
    /// queues the command for the dashboard server, or reports why the request is refused.
    pub(crate) fn see_brake_line(&self, line: &mut BrakeLine, closed: bool, now: Instant) {
        let (software, robot_mode) = self.controller.get();
        let robot_mode = robot_mode.and_then(|held| held.fresh(now, MODE_IS_KNOWN_FOR));
        let asked = match line.see(closed, BrakeConditions { mode: self.mode(), software, robot_mode }, now) {
            None => return,
            Some(Ok(())) if self.service_commands.ask(ArmCommand::BrakeRelease, Asker::Pin) => return,
            Some(Ok(())) => BrakeRefusal::Busy,
            Some(Err(refusal)) => refusal,
        };
        self.tell_of_brakes(Err(asked));
    }

    /// Reports the outcome of a request by the brake contact to the log and to telemetry.
    pub(crate) fn tell_of_brakes(&self, came: Result<Outcome, BrakeRefusal>) {
        self.brakes.set(Some(came.map_or_else(BrakeRefusal::text, Outcome::text)));
        self.note(LogEvent::BrakeRelease(came));
    }

    /// Returns the clients' requests that wait for the control loop.
    pub(crate) const fn inquiry(&self) -> &Inquiry {
        &self.inquiry
    }

    /// Writes telemetry's next datagram to `out` and returns its length; `None` if none is due.
    pub(crate) fn next_datagram(&self, now: Instant, out: &mut [u8]) -> Option<usize> {
        self.sampler.borrow_mut().poll(now, out)
    }

    /// Passes this device's own observations to telemetry: received frames, sensor errors, the stack, causes of failed
    /// connections, and its start.
    fn report(&self, robot: Handle<'_>) {
        let origin = self.origin.get();
        let mut report = PortReport {
            frames: self.frames(),
            activity: origin.map_or(LinkActivity::Silence, |origin| activity(origin.monitor)),
            interface_restarts: self.interface_restarts.get(),
            unsent: self.unsent.get(),
            network: self.network.get(),
            stack_unused: self.stack.unused(),
            brake_release: self.brakes.get(),
            troubles: core::array::from_fn(|index| {
                let link = u8::try_from(index).ok().and_then(LinkId::new);
                link.and_then(|link| robot.trouble(link)).map(ConnectionFault::text)
            }),
            ..PortReport::default()
        };
        for Counted { figures, faults } in self.counters.iter().map(Counters::counted) {
            let sum = &mut report.sensors;
            sum.readings = sum.readings.saturating_add(figures.readings);
            sum.refused = sum.refused.saturating_add(figures.refused);
            sum.garbage = sum.garbage.saturating_add(figures.garbage);
            report.sensor_faults = report.sensor_faults.saturating_add(faults);
        }
        let mut sampler = self.sampler.borrow_mut();
        sampler.port(report);
        if let Some(Origin { begun, clock, .. }) = origin {
            sampler.boot(begun.report(self.stage.get(), clock));
        }
    }

    /// Logs, once, the kind of traffic from the robot's address if it has not changed for [`ALL_THERE_IS`], there is no
    /// session with the controller, and no IP packet from that address has been received.
    fn listen(&self, now: Instant) {
        let Some(Origin { monitor, .. }) = self.origin.get() else { return };
        let (heard, (known, since, told)) = (activity(monitor), self.heard.get());
        if heard != known {
            self.heard.set((heard, now, false));
        } else if !told
            && heard != LinkActivity::Packets
            && self.status.get().mode == Mode::Offline
            && now.since(since) >= ALL_THERE_IS
        {
            self.heard.set((heard, since, true));
            self.note(LogEvent::Heard(heard));
        }
    }

    /// Queues an event as a line for the log.
    pub(crate) fn note(&self, log_event: LogEvent<P::Event>) {
        if self.lines.try_send(log_event).is_err() {
            self.missed.set(self.missed.get().saturating_add(1));
        }
    }

    /// Writes the log, switches the lamp, and passes this device's observations to telemetry; never returns. Calls
    /// `feed`, which feeds the watchdog, as long as the control loop is not overdue.
    pub async fn keep(
        &self,
        robot: Handle<'_>,
        stack: Stack<'_>,
        lamp: &mut impl OutputPin,
        mut feed: impl FnMut(),
    ) -> ! {
        let mut next = embassy_time::Instant::now();
        loop {
            if let Ok(line) = with_deadline(next, self.lines.receive()).await {
                line.log();
                continue;
            }
            next += UPKEEP;
            let now = now();
            if self.heartbeat.get().beats(now) {
                feed();
            }
            self.stack.look();
            self.listen(now);
            self.report(robot);
            let linked = stack.is_link_up();
            let status = self.status.get();
            if linked != status.linked {
                self.note(LogEvent::Network(linked));
            }
            self.status.set(Status { linked, ..status });
            // A lamp that cannot be switched does not stop the task.
            let _ = if status.lit(now) { lamp.set_high() } else { lamp.set_low() };
            match self.missed.take() {
                0 => {}
                missed => LogEvent::<P::Event>::Missed(missed).log(),
            }
        }
    }

    /// Restarts the interface or the board if no frames arrive, by the rule of
    /// [`link_watchdog`](outrigger_embassy::link_watchdog); never returns. `restart` executes a restart, and does
    /// not return if it restarts the board.
    pub async fn watch_link(&self, mut restart: impl FnMut(Restart)) -> ! {
        let mut watchdog = LinkWatchdog::new();
        let mut ticker = Ticker::every(Duration::from_secs(1));
        loop {
            ticker.next().await;
            let Status { linked, mode, .. } = self.status.get();
            let frames = self.frames();
            match watchdog.handle(now(), InterfaceState { linked, frames, mode }) {
                None => continue,
                Some(Restart::Interface) => {
                    self.interface_restarts.set(watchdog.interface_restarts());
                    info!("network: a link and no frames, interface restarted ({})", watchdog.interface_restarts());
                    restart(Restart::Interface);
                }
                Some(Restart::Board) => {
                    self.flush();
                    info!("network: no frames for minutes, board restarted");
                    restart(Restart::Board);
                }
            }
        }
    }

    /// Checks every second whether the external clock has started meanwhile, and then restarts the board to use it, as
    /// soon as the arm is not commanded; never returns. For a board that runs on the chip's own oscillator.
    pub async fn await_clock(&self, mut has_come: impl FnMut() -> bool, mut restart: impl FnMut()) -> ! {
        let mut ticker = Ticker::every(Duration::from_secs(1));
        loop {
            ticker.next().await;
            if has_come() && matches!(self.mode(), Mode::Offline | Mode::Monitor) {
                self.flush();
                info!("clock: the external one has come, board restarted");
                restart();
            }
        }
    }

    /// Writes the queued lines of the log, and one with the part of the stack that was never used, before this device
    /// restarts.
    pub fn flush(&self) {
        while let Ok(line) = self.lines.try_receive() {
            line.log();
        }
        if let Some(unused) = self.stack.look_at_all() {
            info!("stack: {} B were never used", unused);
        }
    }
}

/// The observer of the control loop, which stores what it observes in [`Shared`].
pub(crate) struct LoopObserver<'d, const N: usize, P: Controller<N>, O> {
    #[cfg(feature = "motion")]
    motion: Stored<'static, N>,
    shared: &'d Shared<N, P>,
    handle: Handle<'d>,
    cycle: O,
    /// The controller's time of the newest robot state at which the level of the pin `cycle` was changed; `None`
    /// without a state in this session.
    shown: Option<ControllerTime>,
    high: bool,
}

impl<'d, const N: usize, P: Controller<N, Event: PeerEvent>, O: OutputPin> LoopObserver<'d, N, P, O> {
    /// Returns the observer of the control loop; `cycle` is a pin whose level changes with each new robot state.
    pub(crate) const fn new(shared: &'d Shared<N, P>, handle: Handle<'d>, cycle: O) -> Self {
        Self {
            #[cfg(feature = "motion")]
            motion: Stored::new(&[]),
            shared,
            handle,
            cycle,
            shown: None,
            high: false,
        }
    }

    /// Sets the rest of the control law's motion, behind the waypoints with which it begins. The observer feeds the
    /// rest to the engine during the run.
    #[cfg(feature = "motion")]
    pub(crate) const fn feeds(&mut self, motion: Stored<'static, N>) {
        self.motion = motion;
    }

    /// Feeds as many waypoints of the stored motion to the engine as it has room for. All of them were checked when the
    /// firmware was built. If one is rejected nevertheless, the rest is left out too, and the motion ends with that
    /// reason.
    #[cfg(feature = "motion")]
    fn feed<L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        while engine.motion_status().room > 0
            && let Some(waypoint) = self.motion.next()
        {
            if engine.feed(&waypoint, self.motion.is_empty(), now).is_err() {
                self.motion = Stored::new(&[]);
            }
        }
    }

    /// Stores the state of the engine for the lamp and telemetry, and changes the level of the pin if `newest`, the
    /// controller's time of the newest robot state, has changed.
    fn show(&mut self, newest: Option<ControllerTime>, mode: Mode, latched: bool, heartbeat: Heartbeat) {
        if newest != self.shown {
            self.shown = newest;
            self.high = !self.high;
            let _ = if self.high { self.cycle.set_high() } else { self.cycle.set_low() };
        }
        let shared = self.shared;
        if shared.stage.replace(StartStage::Running) != StartStage::Running {
            boot::reached(StartStage::Running);
        }
        shared.heartbeat.set(heartbeat);
        shared.status.set(Status { mode, latched, ..shared.status.get() });
    }
}

impl<const N: usize, P: Controller<N, Event: PeerEvent>, L: Law<N>, O: OutputPin> Observer<N, P, L>
    for LoopObserver<'_, N, P, O>
{
    fn event(&mut self, event: Event<P::Event>) {
        let shared = self.shared;
        shared.sampler.borrow_mut().event(event);
        shared.inquiry.event(&event);
        if let Event::Peer(event) = &event
            && let Some(software) = event.software()
        {
            shared.controller.set((Some(software), None));
        }
        let log_event = LogEvent::of(&event, shared.armed.get(), |link| self.handle.trouble(link));
        if let Some(log_event) = log_event {
            if let LogEvent::Armed(times) = log_event {
                shared.armed.set(times);
            }
            shared.note(log_event);
        }
    }

    fn observe(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        #[cfg(feature = "motion")]
        self.feed(engine, now);
        self.shared.sampler.borrow_mut().observe(engine, now);
        self.shared.inquiry.observe(engine, now, self.handle);
        self.shared.service_commands.observe(self.handle);
        let (software, _) = self.shared.controller.get();
        self.shared.controller.set((software, engine.evidence().robot_mode));
        let newest = engine.state().map(|state| state.controller_time);
        self.show(newest, engine.mode(), engine.latch().is_some(), Heartbeat::asleep(now, engine.poll_timeout()));
    }
}
