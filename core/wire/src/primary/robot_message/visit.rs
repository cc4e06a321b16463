//! The visitor for robot-message payloads, by the field names of the specification.

use super::{ErrorCode, ErrorDetail, RobotMessagePayload, SafetyDetail, SafetyModeMessage, Text, ThreadLabels, Titled};
use crate::WireError;
use crate::fields::{FieldVisitor, Group, Value};

impl RobotMessagePayload<'_> {
    pub(super) fn visit(&self, visitor: &mut dyn FieldVisitor) -> Result<(), WireError> {
        let mut show = Show(visitor);
        match *self {
            Self::Text(text) => show.text("text", text),
            Self::ProgramLabel { id, text } => {
                show.signed("id", id);
                show.text("text", text);
            }
            Self::Popup(popup) => {
                if let Some(request) = popup.request {
                    show.unsigned("request_id", request.request_id);
                    show.unsigned("requested_type", request.requested_type);
                }
                show.flag("warning", popup.warning);
                show.flag("error", popup.error);
                if let Some(request) = popup.request {
                    show.flag("blocking", request.blocking);
                }
                show.text("title", popup.title);
                show.text("text", popup.text);
            }
            Self::Version(version) => {
                show.text("project_name", version.project_name);
                show.unsigned("major_version", version.major);
                show.unsigned("minor_version", version.minor);
                match version.build_number {
                    None => show.signed("svn_revision", version.bugfix),
                    Some(build_number) => {
                        show.signed("bugfix_version", version.bugfix);
                        show.signed("build_number", build_number);
                    }
                }
                show.text("build_date", version.build_date);
            }
            Self::SafetyMode(SafetyModeMessage { code, argument, detail }) => {
                show.signed("code", code);
                show.signed("argument", argument);
                match detail {
                    SafetyDetail::Security(text) => show.text("text", text),
                    SafetyDetail::Mode { safety_mode_type, text } => {
                        show.unsigned("safety_mode_type", safety_mode_type);
                        show.text("text", text);
                    }
                    SafetyDetail::Report { safety_mode_type, report_data_type, report_data } => {
                        show.unsigned("safety_mode_type", safety_mode_type);
                        show.unsigned("report_data_type", report_data_type);
                        show.unsigned("report_data", report_data);
                    }
                    SafetyDetail::Raw(bytes) => show.raw(bytes),
                }
            }
            Self::ErrorCode(ErrorCode { code, argument, detail }) => {
                show.signed("code", code);
                show.signed("argument", argument);
                match detail {
                    ErrorDetail::Text(text) => show.text("text", text),
                    ErrorDetail::Warning { warning_level, text } => {
                        show.signed("warning_level", warning_level);
                        show.text("text", text);
                    }
                    ErrorDetail::Report { report_level, data_type, data, text } => {
                        show.signed("report_level", report_level);
                        show.unsigned("data_type", data_type);
                        show.unsigned("data", data);
                        show.text("text", text);
                    }
                    ErrorDetail::Raw(bytes) => show.raw(bytes),
                }
            }
            Self::Key(Titled { code, argument, title, text })
            | Self::Variable(Titled { code, argument, title, text }) => {
                show.signed("code", code);
                show.signed("argument", argument);
                show.text("title", title);
                show.text("text", text);
            }
            Self::RequestValue(request) => {
                show.unsigned("request_id", request.request_id);
                if let Some(requested_type) = request.requested_type {
                    show.unsigned("requested_type", requested_type);
                }
                if let Some(popup) = request.popup {
                    show.flag("warning", popup.warning);
                    show.flag("error", popup.error);
                    show.flag("blocking", popup.blocking);
                    show.text("title", popup.title);
                }
                show.text("text", request.text);
            }
            Self::RuntimeException { position, text } => {
                if let Some((line, column)) = position {
                    show.signed("script_line_number", line);
                    show.signed("script_column_number", column);
                }
                show.text("text", text);
            }
            Self::Undocumented { first, second, third } => {
                show.signed("first", first);
                show.signed("second", second);
                show.unsigned("third", third);
            }
            Self::ProgramLabelThreads(labels) => return visit_labels(labels, visitor),
            Self::Raw { bytes, .. } => show.raw(bytes),
        }
        Ok(())
    }
}

fn visit_labels(labels: ThreadLabels<'_>, visitor: &mut dyn FieldVisitor) -> Result<(), WireError> {
    visitor.begin("labels", Group::List);
    for label in labels {
        let label = label?;
        visitor.begin("", Group::Record);
        visitor.field("label_id", Value::Signed(label.label_id.into()));
        visitor.field("label_name", Value::Text(label.label_name.0));
        visitor.field("thread_name", Value::Text(label.thread_name.0));
        visitor.end();
    }
    visitor.end();
    Ok(())
}

/// A visitor of a robot message's payload, with a short method to report a field of each type.
struct Show<'v>(&'v mut dyn FieldVisitor);

impl Show<'_> {
    fn text(&mut self, name: &str, text: Text<'_>) {
        self.0.field(name, Value::Text(text.0));
    }
    fn raw(&mut self, bytes: Text<'_>) {
        self.0.field("raw", Value::Bytes(bytes.0));
    }
    fn signed(&mut self, name: &str, value: i32) {
        self.0.field(name, Value::Signed(value.into()));
    }
    fn unsigned(&mut self, name: &str, value: impl Into<u64>) {
        self.0.field(name, Value::Unsigned(value.into()));
    }
    fn flag(&mut self, name: &str, value: bool) {
        self.0.field(name, Value::Bool(value));
    }
}
