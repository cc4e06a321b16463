//! The messages of `rcl_interfaces`: log entries of a node, and queries for its parameters.

use super::{Time, services};

messages! {
    Log = "rcl_interfaces/msg/Log" {
        stamp: Time, level: u8, name: String, msg: String, file: String, function: String, line: u32,
    }
    ParameterValue = "rcl_interfaces/msg/ParameterValue" {
        r#type: u8,
        bool_value: bool,
        integer_value: i64,
        double_value: f64,
        string_value: String,
        byte_array_value: Vec<u8>,
        bool_array_value: Vec<bool>,
        integer_array_value: Vec<i64>,
        double_array_value: Vec<f64>,
        string_array_value: Vec<String>,
    }
    Parameter = "rcl_interfaces/msg/Parameter" { name: String, value: ParameterValue }
    FloatingPointRange = "rcl_interfaces/msg/FloatingPointRange" { from_value: f64, to_value: f64, step: f64 }
    IntegerRange = "rcl_interfaces/msg/IntegerRange" { from_value: i64, to_value: i64, step: u64 }
    ParameterDescriptor = "rcl_interfaces/msg/ParameterDescriptor" {
        name: String,
        r#type: u8,
        description: String,
        additional_constraints: String,
        read_only: bool,
        dynamic_typing: bool,
        floating_point_range: Vec<FloatingPointRange>,
        integer_range: Vec<IntegerRange>,
    }
    SetParametersResult = "rcl_interfaces/msg/SetParametersResult" { successful: bool, reason: String }
    ListParametersResult = "rcl_interfaces/msg/ListParametersResult" { names: Vec<String>, prefixes: Vec<String> }
    ListParametersRequest = "rcl_interfaces/srv/ListParameters_Request" { prefixes: Vec<String>, depth: u64 }
    ListParametersResponse = "rcl_interfaces/srv/ListParameters_Response" { result: ListParametersResult }
    GetParametersRequest = "rcl_interfaces/srv/GetParameters_Request" { names: Vec<String> }
    GetParametersResponse = "rcl_interfaces/srv/GetParameters_Response" { values: Vec<ParameterValue> }
    GetParameterTypesRequest = "rcl_interfaces/srv/GetParameterTypes_Request" { names: Vec<String> }
    GetParameterTypesResponse = "rcl_interfaces/srv/GetParameterTypes_Response" { types: Vec<u8> }
    DescribeParametersRequest = "rcl_interfaces/srv/DescribeParameters_Request" { names: Vec<String> }
    DescribeParametersResponse = "rcl_interfaces/srv/DescribeParameters_Response" {
        descriptors: Vec<ParameterDescriptor>,
    }
    SetParametersRequest = "rcl_interfaces/srv/SetParameters_Request" { parameters: Vec<Parameter> }
    SetParametersResponse = "rcl_interfaces/srv/SetParameters_Response" { results: Vec<SetParametersResult> }
    SetParametersAtomicallyRequest = "rcl_interfaces/srv/SetParametersAtomically_Request" {
        parameters: Vec<Parameter>,
    }
    SetParametersAtomicallyResponse = "rcl_interfaces/srv/SetParametersAtomically_Response" {
        result: SetParametersResult,
    }
}

services! {
    ListParameters = "rcl_interfaces/srv/ListParameters": ListParametersRequest => ListParametersResponse;
    GetParameters = "rcl_interfaces/srv/GetParameters": GetParametersRequest => GetParametersResponse;
    GetParameterTypes = "rcl_interfaces/srv/GetParameterTypes": GetParameterTypesRequest => GetParameterTypesResponse;
    DescribeParameters = "rcl_interfaces/srv/DescribeParameters":
        DescribeParametersRequest => DescribeParametersResponse;
    SetParameters = "rcl_interfaces/srv/SetParameters": SetParametersRequest => SetParametersResponse;
    SetParametersAtomically = "rcl_interfaces/srv/SetParametersAtomically":
        SetParametersAtomicallyRequest => SetParametersAtomicallyResponse;
}
