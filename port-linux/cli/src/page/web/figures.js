// The figures above the plots, the table of joints and what is known of the tool.

// What the figures say of a state, as far as it does not change with every state.
function wordsOf(status, live) {
  return { ...modeWords(status, live), ...gradeWords(status), ...robotWords(status, live), ...attention(status, live) };
}

function modeWords(status, live) {
  const tint = { Command: 'good', Arming: 'warn', Stopping: 'warn', Offline: 'bad' }[status.mode] || '';
  return { mode: status.mode, modeStyle: `big ${tint}`, modeWords: live.held_by || MODE_WORDS[status.mode] || '' };
}

function gradeWords(status) {
  const none = status.grade === '-';
  const low = LINK.indexOf(status.grade) < LINK.indexOf(status.grade_needed);
  const tint = GRADES[status.grade] || 'none';
  return {
    grade: none ? 'none' : status.grade,
    gradeStyle: `big ${low && tint === 'good' ? 'warn' : tint}`,
    gradeWords: none ? status.trouble || 'no states' : status.grade_text,
  };
}

function robotWords(status, live) {
  const percent = share => `${(share * 100).toFixed(0)} %`;
  const words = [];
  if (status.safety) words.push(`safety ${status.safety}`);
  if (status.krc_quality) words.push(`KRC quality ${status.krc_quality}`);
  if (live.speed_slider !== undefined) words.push(`speed slider ${percent(live.speed_slider)}`);
  else if (live.speed_scaling !== undefined) words.push(`speed ${percent(live.speed_scaling)} by slider and limiter`);
  if (live.program_state) words.push(`program ${live.program_state.toLowerCase()}`);
  const robotMode = status.robot_mode || status.krc_state || (status.identity ? 'connected' : 'not connected');
  return { robotMode, robotWords: words.join(' · ') };
}

function attention(status, live) {
  const say = (attention, remedy, tint) => ({ attention, remedy, attentionStyle: `big ${tint}` });
  const { latched: fault, not_met: unmet } = live;
  if (fault) return say(`Fault: ${fault.text}`, remedyOf(fault), 'bad');
  if (status.trouble) return say('Not connected to the robot', status.trouble, 'bad');
  if (status.overrides_pendant) {
    const remedy = 'stop here, by a stop input, or by the emergency stop';
    return say('A stop at the pendant would be overridden', remedy, 'warn');
  }
  if (unmet.length) {
    const more = unmet.length > 1 ? ` (and ${unmet.length - 1} more)` : '';
    return say(`Not ready: ${unmet[0].text}`, unmet[0].remedy + more, 'warn');
  }
  return say(status.mode === 'Monitor' ? 'Ready to command' : 'No fault', '', 'good');
}

// The remedy of a latched fault; a reset that it mentions itself is not said twice.
function remedyOf(fault) {
  const reset = /[;,] (then )?(acknowledge|reset)(,? (and|then) (request|start))?; then reset/;
  return `${fault.remedy}; then reset, and start again`.replace(reset, '; then reset');
}

// What the figures say of a kept state: its own mode and grade, and the newest words that were stored before it.
function wordsAt(index) {
  const [mode, grade] = lane.at(index);
  const stored = upTo(words, times[index % KEPT]);
  const said = stored ? stored.said : NOTHING_SAID;
  const ofMode = modeWords({ mode: MODES[mode] || '–' }, {});
  const ofGrade = gradeWords({ ...status, grade: LINK[grade] || '-', grade_text: '', trouble: '' });
  return {
    ...said,
    ...(said.mode === ofMode.mode ? {} : ofMode),
    ...(said.grade === ofGrade.grade ? {} : ofGrade),
  };
}
const NOTHING_SAID = { robotMode: '–', robotWords: '', attention: '–', remedy: '', attentionStyle: 'big none' };

// Shows the figures that are shown before the first state of a session.
function blank() {
  for (const id of ['mode', 'grade', 'robot-mode', 'attention']) {
    text(id, '–');
    style(id, 'big');
  }
  for (const id of ['link-words', 'age-words', 'robot-words', 'remedy']) text(id, '');
  text('robot', '…');
  text('mode-words', 'waiting for the first state');
  text('tool-words', '–');
  document.querySelector('#age-bar i').style.width = '0';
  $('joint-table').dataset.stamp = '';
}

function figures() {
  if (!count) return;
  const index = shownIndex();
  const past = cursor !== null;
  const said = past ? wordsAt(index) : wordsOf(status, live);
  text('robot', headOf());
  text('mode', said.mode);
  style('mode', said.modeStyle);
  text('mode-words', said.modeWords);
  text('grade', said.grade);
  style('grade', said.gradeStyle);
  const lost = status.lost ? `, ${status.lost} lost` : '';
  const rate = past || status.grade === '-' ? '' : `; ${status.rate_hz.toFixed(0)} states/s${lost}`;
  text('link-words', `${said.gradeWords}${rate}`);
  showAge(past ? plots[1].series[0].values[index % KEPT] : status.age_ms);
  text('robot-mode', said.robotMode);
  text('robot-words', said.robotWords);
  text('attention', said.attention);
  text('remedy', said.remedy);
  style('attention', said.attentionStyle);
  table(index, past);
}

// The robot, as the head of the page names it.
function headOf() {
  const models = robot && robot.shape ? robot.shape.models.join(' or ') : '';
  const serial = robot && robot.serial ? `serial number ${robot.serial}` : '';
  return [models, serial, status.robot, status.identity].filter(Boolean).join(' · ');
}

function showAge(age) {
  const limit = live.age_limit_ms;
  const bar = document.querySelector('#age-bar i');
  bar.style.width = `${clamp(((age || 0) / limit) * 66.6, 0, 100).toFixed(1)}%`;
  bar.className = age > limit ? 'over' : '';
  if (Number.isFinite(age)) text('age-words', `newest state ${age.toFixed(1)} ms old, limit ${limit} ms`);
  else text('age-words', status.grade === '-' ? 'not connected' : 'no state yet');
}

function table(index, past) {
  const columns = past ? columnsAt(index) : newestColumns();
  const written = value => (Number.isFinite(value) ? number(value, 2) : '–');
  document.querySelectorAll('#joint-table tbody tr').forEach((row, i) => {
    columns.forEach((column, k) => {
      const words = written(column && column[i]);
      const cell = row.cells[k + 1];
      if (cell.textContent !== words) cell.textContent = words;
    });
  });
  $('joint-table').dataset.stamp = past || status.controller_time === undefined ? '' : String(status.controller_time);
  text('tool-words', (past ? toolOf(index) : tool()).join('\n') || '–');
}

// The joints' angles, speeds and commanded speeds in a kept state [deg, deg/s].
function columnsAt(index) {
  return [angles.at(index), speeds.at(index), got(kept.target, index).map(degrees)];
}

// The same in the newest state.
function newestColumns() {
  const columns = [status.q_actual, status.qd_actual, live.qd_command || status.qd_target];
  return columns.map(column => column && column.map(degrees));
}

const poseWords = pose => {
  const position = pose.slice(0, 3).map(v => (v * 1e3).toFixed(1));
  const rotation = pose.slice(3).map(v => v.toFixed(3));
  return [`position  ${position.join('  ')} mm`, `rotation vector  ${rotation.join('  ')} rad`];
};
const forceWords = force => `force  ${force.map(v => v.toFixed(1)).join('  ')} N`;

// What is kept of the tool and the sensor at one state.
function toolOf(index) {
  const pose = known(got(kept.pose, index));
  const force = known(forces.at(index));
  const words = pose ? poseWords(pose) : [];
  if (force) words.push(forceWords(force));
  const single = plot => plot.series.length === 1 && plot.series[0].used && plot !== plots[1];
  for (const plot of plots.filter(single)) {
    const [value] = plot.at(index);
    if (!Number.isFinite(value)) continue;
    const written = value.toFixed(plot.digits);
    if (plot === sensor) words.push(`${plot.heading.textContent}  ${written}`);
    else words.push(`${plot.title.toLowerCase()}  ${written} ${plot.unit}`);
  }
  return words;
}

// What the newest state says of the tool, the control law's values and the sensors.
function tool() {
  const words = status.tcp_pose ? poseWords(status.tcp_pose) : [];
  if (live.tcp_force) words.push(forceWords(live.tcp_force));
  const values = live.values || [];
  for (const name of new Set(values.map(value => value.name))) {
    const parts = values.filter(value => value.name === name && value.value !== null);
    if (parts.length) words.push(`${name.replaceAll('_', ' ')}  ${parts.map(partWords).join('  ')}`);
  }
  return words.concat(live.sources.map(sensorWords));
}

function partWords(value) {
  const part = value.part ? `${value.part} ` : '';
  return `${part}${(value.value * scaled(value)).toFixed(2)} ${symbol(value)}`;
}

function sensorWords(source) {
  const name = `sensor “${source.name}”`;
  if (!source.value) return `${name}  no reading yet`;
  const isDistance = source.max <= 5 && source.value.length === 1;
  const value = isDistance
    ? `${(source.value[0] * 1e3).toFixed(1)} mm`
    : source.value.map(v => v.toFixed(4)).join('  ');
  return `${name}  ${value}, ${source.age_ms.toFixed(0)} ms old (limit ${source.max_age_ms} ms)`;
}
