//! The start-up code and the tasks that all boards have in common, as a macro.

/// Declares, in the root of a board's firmware, its static memory and the tasks that differ between boards only in
/// types.
///
/// It is a macro because a static and a task of embassy cannot be generic; it contains no decisions. The board depends
/// on `defmt`, `embassy-executor`, `embassy-net` and `static_cell`, and its build script sets `krc`, `requests` and
/// `dashboard`.
///
/// | declared | is |
/// |---|---|
/// | `Settings`, `Robot`, `Shared` | the types for the kind of controller that the settings name |
/// | `BENCH_BAUD` | the rate of the serial line at the bench \[Bd\] |
/// | `choose_settings` | to be called first: returns the settings, their image, and the flash for new settings |
/// | `guard_link` | returns the driver behind the ARP guard, and the monitor of its frames |
/// | `start_network` | starts the network stack, with its task and the task that keeps `TURNS` up to date |
/// | `make_robot` | returns the robot of these settings, and its name in telemetry |
/// | `spawn_services` | spawns the tasks that send telemetry and execute commands at the dashboard server |
/// | `answer`, `serve_bench` | tasks: requests over the network, settings over the line at the bench |
/// | `contacts`, `read_serial`, `read_analog`, `read_bus`, `read_wrench` | tasks of the inputs whose types are given |
///
/// A board calls the functions in this order. After `make_robot` it spawns its own tasks `control` and `keep`, and
/// `watch_link` if it can restart its network interface.
// The debug information must refer to lines of this file: `board_budgets` finds the stack of each task by them.
#[collapse_debuginfo(no)]
#[macro_export]
macro_rules! board {
    (
        name: $name:expr,
        driver: $Driver:ty,
        flash: $Flash:ty,
        bench: $Bench:ty,
        motion: $motion:expr,
        ports: $ports:expr,
        $(contacts: $Contact:ty, request: $is_closed:ident,)?
        $(serial: $Serial:ty,)?
        $(analog: $Level:ty, counts: $full:expr, volts: $volts:expr,)?
        $(bus: $Bus:ty,)?
        $(wrench: $Wrench:ty, ready: $Ready:ty,)?
    ) => {
        #[cfg(krc)]
        use $crate::krc::{Memory, Robot, Settings, Shared};
        #[cfg(not(krc))]
        use $crate::ur::{Memory, Robot, Settings, Shared};

        /// The rate of the serial line over which a PC at the bench writes settings to the board \[Bd\].
        const BENCH_BAUD: u32 = 115_200;
        /// The settings that `build.rs` made of the board's file. They are used if the flash has no usable image.
        static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/image"));
        /// The optional parts of this firmware: network requests, long motions, dashboard commands and sensor ports. An
        /// image of settings that needs any other part is rejected.
        const BUILT: $crate::provision::Built = $crate::provision::Built {
            requests: cfg!(requests),
            motion: $motion,
            dashboard: cfg!(dashboard),
            ports: $ports,
        };
        /// The number of sockets for which the network stack has room.
        const SOCKETS: usize = 6 + cfg!(requests) as usize + cfg!(dashboard) as usize;
        /// The time at which the executor last ran a task of the lowest priority; the network's tasks give way to such
        /// tasks if it is too long ago.
        static TURNS: $crate::task_order::Turns = $crate::task_order::Turns::new();

        /// Chooses the settings in effect from the board's flash or the firmware, and returns them with their image.
        fn choose_settings(
            flash: $Flash,
            begun: &mut $crate::boot::BootRecord,
        ) -> (Settings, $crate::provision::Image<'static>, $crate::provision::Bench<Settings, $Flash>) {
            use $crate::provision;
            static IMAGES: ::static_cell::ConstStaticCell<provision::Memory> =
                ::static_cell::ConstStaticCell::new(provision::Memory::new());
            let in_force = provision::Bench::choose(flash, IMAGES.take(), IMAGE, BUILT, begun);
            ::defmt::unwrap!(in_force)
        }

        /// Returns the network driver with a guard against ARP conflicts over the robot's address, and the monitor that
        /// counts the received frames.
        fn guard_link(driver: $Driver, settings: &Settings) -> ($crate::Guarded<$Driver>, &'static $crate::FrameMonitor) {
            static MONITOR: ::static_cell::StaticCell<$crate::FrameMonitor> = ::static_cell::StaticCell::new();
            let monitor = &*MONITOR.init($crate::FrameMonitor::new(settings.robot));
            let own = (settings.device.address, settings.device.prefix);
            let guard = $crate::ArpGuard::toward(settings.robot, own, settings.device.gateway);
            ($crate::Guarded::new(driver, guard, monitor), monitor)
        }

        /// Creates the network stack and spawns its task; returns the stack, and the number by which the executor
        /// identifies that task.
        fn start_network(
            spawner: ::embassy_executor::Spawner,
            driver: $crate::Guarded<$Driver>,
            settings: &Settings,
            seed: u64,
        ) -> (::embassy_net::Stack<'static>, u32) {
            static RESOURCES: ::static_cell::ConstStaticCell<::embassy_net::StackResources<SOCKETS>> =
                ::static_cell::ConstStaticCell::new(::embassy_net::StackResources::new());
            let config = $crate::network(&settings.device);
            let (stack, runner) = ::embassy_net::new(driver, config, RESOURCES.take(), seed);
            let network = spawn_first(spawner, net(runner), $crate::task_order::NETWORK);
            spawner.spawn(::defmt::unwrap!(note_turns()));
            (stack, network)
        }

        /// Creates the robot's engine and control loop from `settings`; returns them with the device's name in
        /// telemetry. `boot` is a random number that is independent of the stack's seed, because anybody can read
        /// telemetry.
        fn make_robot(
            stack: ::embassy_net::Stack<'static>,
            settings: &Settings,
            image: &$crate::provision::Image<'static>,
            boot: u32,
        ) -> (Robot, $crate::telemetry::Device<'static>) {
            static MEMORY: ::static_cell::ConstStaticCell<Memory> = ::static_cell::ConstStaticCell::new(Memory::new());
            let (board, build) = ($name, env!("OUTRIGGER_BUILD"));
            let device = $crate::telemetry::Device { board, build, boot, settings: image.settings };
            let robot = Robot::new(stack, settings, device, MEMORY.take());
            (::defmt::unwrap!(robot), device)
        }

        /// Spawns the task that sends telemetry, if the settings name a listener, and the task that executes commands
        /// at the dashboard server, if the build contains it.
        fn spawn_services(
            spawner: ::embassy_executor::Spawner,
            settings: &Settings,
            shared: &'static Shared,
            #[cfg_attr(not(dashboard), expect(unused_variables, reason = "for the dashboard server"))]
            robot: $crate::Handle<'static>,
            stack: ::embassy_net::Stack<'static>,
        ) {
            if let Some(target) = settings.device.telemetry {
                spawner.spawn(::defmt::unwrap!(tell(shared, stack, target)));
            }
            #[cfg(dashboard)]
            spawner.spawn(::defmt::unwrap!(service_commands(shared, robot, stack)));
        }

        /// Spawns `task` with the executor priority `priority`, for a task that runs before the other tasks of the
        /// board. Returns the number by which the executor identifies the task.
        fn spawn_first<S>(
            spawner: ::embassy_executor::Spawner,
            task: Result<::embassy_executor::SpawnToken<S>, ::embassy_executor::SpawnError>,
            priority: u8,
        ) -> u32 {
            let task = ::defmt::unwrap!(task);
            task.metadata().set_priority(priority);
            let id = task.id();
            spawner.spawn(task);
            id
        }

        /// Returns a function that sets the priority of the task that called this one.
        async fn own_priority() -> impl Fn(u8) {
            let task = ::embassy_executor::Metadata::for_current_task().await;
            move |priority| task.set_priority(priority)
        }

        #[::embassy_executor::task]
        async fn note_turns() -> ! {
            TURNS.note().await
        }

        #[::embassy_executor::task]
        async fn net(mut runner: ::embassy_net::Runner<'static, $crate::Guarded<$Driver>>) -> ! {
            TURNS.give_way(runner.run(), own_priority().await).await
        }

        #[::embassy_executor::task]
        async fn tell(
            shared: &'static Shared,
            stack: ::embassy_net::Stack<'static>,
            target: $crate::TelemetryTarget,
        ) -> ! {
            use $crate::telemetry::{self, Outgoing};
            static MEMORY: ::static_cell::ConstStaticCell<Outgoing> =
                ::static_cell::ConstStaticCell::new(Outgoing::new());
            telemetry::send(shared, stack, target, MEMORY.take()).await
        }

        #[cfg(dashboard)]
        #[::embassy_executor::task]
        async fn service_commands(
            shared: &'static Shared,
            robot: $crate::Handle<'static>,
            stack: ::embassy_net::Stack<'static>,
        ) -> ! {
            use $crate::dashboard;
            static MEMORY: ::static_cell::ConstStaticCell<dashboard::Memory> =
                ::static_cell::ConstStaticCell::new(dashboard::Memory::new());
            dashboard::carry_out(shared, robot, stack, MEMORY.take()).await
        }

        #[cfg(requests)]
        #[::embassy_executor::task]
        async fn answer(
            shared: &'static Shared,
            robot: $crate::Handle<'static>,
            stack: ::embassy_net::Stack<'static>,
            port: $crate::requests::Port,
            seed: [u8; 32],
        ) {
            use $crate::requests;
            static MEMORY: ::static_cell::ConstStaticCell<requests::Memory> =
                ::static_cell::ConstStaticCell::new(requests::Memory::new());
            requests::serve(shared, robot, stack, port, seed, MEMORY.take()).await;
        }

        #[::embassy_executor::task]
        async fn serve_bench(
            serving: $crate::provision::Serving<Settings, $Bench, $Flash>,
            robot: $crate::Handle<'static>,
            shared: &'static Shared,
        ) -> ! {
            serving.serve(robot, shared).await
        }

        $(
            /// Watches the operator's contacts. `pins` are stop, acknowledge, request and brake release.
            #[::embassy_executor::task]
            async fn contacts(
                operator: $crate::OperatorConfig,
                has_brakes: bool,
                pins: [$Contact; 4],
                robot: $crate::Handle<'static>,
                shared: &'static Shared,
            ) -> ! {
                let [stop, acknowledge, request, brakes] = pins;
                let (stop, acknowledge) = (|| stop.is_low(), || acknowledge.is_low());
                let (request, brake_release) = (|| request.$is_closed(), || brakes.is_low());
                let contacts = $crate::Contacts { stop, acknowledge, request, brake_release };
                contacts.watch(&operator, has_brakes, robot, shared).await
            }
        )?

        $(
            #[::embassy_executor::task]
            async fn read_serial(
                sensor: $crate::SerialSensor,
                port: $Serial,
                robot: $crate::Handle<'static>,
                shared: &'static Shared,
            ) -> ! {
                sensor.run(port, robot, shared).await
            }
        )?

        $(
            #[::embassy_executor::task(pool_size = 2)]
            async fn read_analog(
                sensor: $crate::AnalogSensor,
                level: $Level,
                robot: $crate::Handle<'static>,
                shared: &'static Shared,
            ) -> ! {
                sensor.run(level, $full, $volts, robot, shared).await
            }
        )?

        $(
            #[::embassy_executor::task]
            async fn read_bus(
                sensor: $crate::BusSensor,
                bus: $Bus,
                robot: $crate::Handle<'static>,
                shared: &'static Shared,
            ) -> ! {
                sensor.run(bus, robot, shared).await
            }
        )?

        $(
            #[::embassy_executor::task]
            async fn read_wrench(
                sensor: $crate::WrenchSensor,
                bus: $Wrench,
                data_ready: $Ready,
                robot: $crate::Handle<'static>,
                shared: &'static Shared,
            ) -> ! {
                sensor.run(bus, data_ready, robot, shared).await
            }
        )?
    };
}
