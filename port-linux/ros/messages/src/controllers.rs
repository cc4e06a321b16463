//! The messages of `controller_manager_msgs` that list and switch controllers.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Message, Nothing, Span, services};

messages! {
    #[derive(Eq)]
    ChainConnection = "controller_manager_msgs/msg/ChainConnection" { name: String, reference_interfaces: Vec<String> }
    /// An entry of the list of controllers in the layout from Jazzy on. State: unconfigured, inactive, active or
    /// finalized.
    #[derive(Eq)]
    ControllerListed = "controller_manager_msgs/msg/ControllerState" {
        name: String,
        state: String,
        r#type: String,
        is_async: bool,
        update_rate: u16,
        claimed_interfaces: Vec<String>,
        required_command_interfaces: Vec<String>,
        required_state_interfaces: Vec<String>,
        is_chainable: bool,
        is_chained: bool,
        exported_state_interfaces: Vec<String>,
        reference_interfaces: Vec<String>,
        chain_connections: Vec<ChainConnection>,
    }
    /// An entry of the list of controllers in the layout of Humble.
    #[derive(Eq)]
    ControllerListedHumble = "controller_manager_msgs/msg/ControllerState" {
        name: String,
        state: String,
        r#type: String,
        claimed_interfaces: Vec<String>,
        required_command_interfaces: Vec<String>,
        required_state_interfaces: Vec<String>,
        is_chainable: bool,
        is_chained: bool,
        reference_interfaces: Vec<String>,
        chain_connections: Vec<ChainConnection>,
    }
    #[derive(Eq)]
    ListControllerTypesResponse = "controller_manager_msgs/srv/ListControllerTypes_Response" {
        types: Vec<String>, base_classes: Vec<String>,
    }
    /// A request to switch controllers in the layout from Jazzy on.
    #[derive(Eq)]
    SwitchControllerRequest = "controller_manager_msgs/srv/SwitchController_Request" {
        activate_controllers: Vec<String>,
        deactivate_controllers: Vec<String>,
        strictness: i32,
        activate_asap: bool,
        timeout: Span,
    }
    /// A request to switch controllers in the layout of Humble.
    #[derive(Eq)]
    SwitchControllerRequestHumble = "controller_manager_msgs/srv/SwitchController_Request" {
        activate_controllers: Vec<String>,
        deactivate_controllers: Vec<String>,
        start_controllers: Vec<String>,
        stop_controllers: Vec<String>,
        strictness: i32,
        start_asap: bool,
        activate_asap: bool,
        timeout: Span,
    }
    #[derive(Eq)]
    SwitchControllerResponse = "controller_manager_msgs/srv/SwitchController_Response" { ok: bool, message: String }
    #[derive(Eq)]
    SwitchControllerResponseHumble = "controller_manager_msgs/srv/SwitchController_Response" { ok: bool }
}

/// The controllers of a `controller_manager`, as the response `controller_manager_msgs/srv/ListControllers_Response`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListControllersResponse<C> {
    /// The state of each controller of the `controller_manager`.
    pub controller: Vec<C>,
}

impl<C: Serialize + DeserializeOwned> Message for ListControllersResponse<C> {
    const TYPE: &'static str = "controller_manager_msgs/srv/ListControllers_Response";
}

impl From<ControllerListed> for ControllerListedHumble {
    fn from(of: ControllerListed) -> Self {
        Self {
            name: of.name,
            state: of.state,
            r#type: of.r#type,
            claimed_interfaces: of.claimed_interfaces,
            required_command_interfaces: of.required_command_interfaces,
            required_state_interfaces: of.required_state_interfaces,
            is_chainable: of.is_chainable,
            is_chained: of.is_chained,
            reference_interfaces: of.reference_interfaces,
            chain_connections: of.chain_connections,
        }
    }
}

services! {
    ListControllers = "controller_manager_msgs/srv/ListControllers":
        Nothing => ListControllersResponse<ControllerListed>;
    ListControllerTypes = "controller_manager_msgs/srv/ListControllerTypes": Nothing => ListControllerTypesResponse;
    SwitchController = "controller_manager_msgs/srv/SwitchController":
        SwitchControllerRequest => SwitchControllerResponse;
}
