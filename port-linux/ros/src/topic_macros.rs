//! Macros for lists of topics and services. Each entry is a static of its own, so that code can refer to it by name.

/// Declares topics and the lists that contain them: `LIST { NAME: "topic", Message, quality of service, when,
/// "content"; }`.
macro_rules! topics {
    ($( $(#[$doc:meta])* $list:ident {
        $( $name:ident: $topic:literal, $message:ty, $qos:expr, $when:ident, $tells:literal; )*
    } )*) => { $(
        $( static $name: outrigger_ros2_messages::endpoint::Topic = outrigger_ros2_messages::endpoint::Topic {
            name: $topic,
            message: <$message as outrigger_ros2_messages::Message>::TYPE,
            qos: $qos,
            when: outrigger_ros2_messages::endpoint::PublishTrigger::$when,
            tells: $tells,
        }; )*

        $(#[$doc])*
        pub static $list: &[&outrigger_ros2_messages::endpoint::Topic] = &[$( &$name ),*];
    )* };
}

/// Declares services and the lists that contain them: `LIST { NAME: "name", Service, "effect"; }`.
macro_rules! offers {
    ($( $(#[$doc:meta])* $list:ident {
        $( $name:ident: $at:literal, $service:ty, $does:literal; )*
    } )*) => { $(
        $( static $name: outrigger_ros2_messages::endpoint::Offer = outrigger_ros2_messages::endpoint::Offer {
            name: $at,
            service: <$service as outrigger_ros2_messages::Service>::TYPE,
            does: $does,
        }; )*

        $(#[$doc])*
        pub static $list: &[&outrigger_ros2_messages::endpoint::Offer] = &[$( &$name ),*];
    )* };
}

pub(crate) use {offers, topics};
