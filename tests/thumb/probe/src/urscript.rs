//! Every statement of the renderer.

use outrigger_urscript::{
    AnalogDomain, Dialect, DigitalOutput, Output, Popup, ScriptText, ScriptValue, Sec, ServiceLine, ServoJ, SpeedJ,
    SpeedJForm, SpeedSlider, StopJ, TextMsg, ToolVoltage, Version,
};

use crate::{any, any_numbers, any_text, into_room, shown};

#[inline(never)]
pub fn probe() {
    let version = any(Version::new(5, 15));
    let dialect = any(Dialect::from(version));
    shown(version);

    let speedj = SpeedJ { velocities: any_numbers(), acceleration: any(1.4), time: any(Some(0.02)) };
    let form = any(SpeedJForm::SelfEnding { stop_acceleration: 1.0 });
    into_room(|room| speedj.render(form, dialect, room).map_err(shown));
    into_room(|room| StopJ { deceleration: any(1.4) }.render(room));
    let servoj = ServoJ { positions: any_numbers(), time: any(0.1), lookahead: any(0.1), gain: any(300) };
    into_room(|room| servoj.render(version, room));

    let outputs = any([
        Output::Digital { output: any(DigitalOutput::Tool(0)), high: any(true) },
        Output::Analog { index: any(0), domain: any(Some(AnalogDomain::Voltage)), level: any(0.5) },
        Output::ToolVoltage(any(ToolVoltage::V24)),
        Output::CenterOfGravity(any([0.0; 3])),
        Output::ZeroForceTorqueSensor,
    ]);
    into_room(|room| Sec(any::<&[Output]>(&outputs)).render(dialect, room));

    into_room(|room| TextMsg { text: any_text() }.render(room));
    let popup = Popup { text: any_text(), title: any_text(), warning: any(true), error: any(false) };
    into_room(|room| popup.render(room));
    into_room(|room| any(ServiceLine::PowerOn).render(room));
    into_room(|room| SpeedSlider(any(0.5)).render(room));

    let values = any([
        (any_text(), ScriptValue::Integer(any(1))),
        (any_text(), ScriptValue::Decimal(any(1.0))),
        (any_text(), ScriptValue::Address(any([10, 0, 0, 9]).into())),
        (any_text(), ScriptValue::Text(any_text())),
    ]);
    let text = ScriptText::within(any_text(), any_text(), any::<&[_]>(&values), version).map_err(shown);
    if let Ok(mut text) = text {
        shown(text.len());
        into_room(|room| Ok::<_, ()>(text.read(room)));
    }
}
