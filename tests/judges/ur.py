"""Judges of a simulated UR controller, each with the cases that its authors wrote."""

import os
import pathlib
import re
import subprocess

import sources
from case import Case
from controller import CLIENT

HERE = pathlib.Path(__file__).resolve().parent
# What UR's control loop speaks with, in URScript instead of the pendant's own language.
CONTROL_LOOP = HERE.parent / "sim/tests/controllers/programs_of_users/rtde_control_loop.script"
# The URCap on the controller dials the host of the suite; programs that the suites load are on the pendant's disk.
URCAP = ("--external-control", CLIENT, "--program", "wait_program.urp", "--program", "wait_program.urpx")
# A flight report takes minutes, and so does a support file, which has no option.
REPORT = ("--flight-report", "3")
SLOW = ("DashboardClientTestG5.flight_report_and_support_file", "DashboardClientTestG5.set_receive_timeout")
# UR's CI runs the suite against URSim, where remote control is not enabled; one case asks for that.
UNLOCKED = ("--state", "remote-not-enabled")
# In UR's own CI these programs run with an operator's program in the pendant as well.
BOTH_MODES = ("ur_driver_tests", "spline_tests", "external_control_program_tests", "instruction_executor_test")

# What these say of themselves there; GoogleTest before 1.13 runs them nevertheless, without what they need.
NO_URCAP = "Running URCap tests for PolyScope X is currently not supported."


def workplace(folder, software):
    """A folder where its programs find their files as in its `tests`, and write some of their own."""
    place = folder / "build/urcl_work" / software / "tests"
    place.mkdir(parents=True, exist_ok=True)
    for link, target in ((place / "resources", "tests/resources"), (place.parent / "resources", "resources")):
        if not link.is_symlink():
            link.symlink_to(folder / "urcl" / target)
    return place


def urcl(folder, software):
    """Each GoogleTest case of UR's client library that speaks with a robot, by itself, as CTest runs it."""
    programs, place = sources.built_urcl(folder), workplace(folder, software)
    model = "ur5" if software.startswith("3.") else "ur5e"
    environment = {"ROBOT_MODEL": model, "URSIM_VERSION": software}
    cases = []
    for program in sources.URCL_PROGRAMS:
        listed = subprocess.run([programs / program, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True, check=True)
        base = program.removesuffix("_headless")
        modes = [("_headless", ["--headless", "true"]), ("_urcap", ["--headless", "false"])]
        modes = modes if base in BOTH_MODES else modes[:1] if base == "trajectory_streaming_tests" else [("", [])]
        suite = ""
        for line in listed.stdout.splitlines():
            if line.endswith("."):
                suite = line
            elif line.startswith("  "):
                name = suite + line.strip()
                for suffix, words in modes:
                    command = [programs / program, f"--gtest_filter={name}", *words]
                    skip = NO_URCAP if suffix == "_urcap" and software.startswith("10.") else None
                    unlocked = software.startswith("5.") and name == "DashboardClientTestG5.operational_mode"
                    options = URCAP + REPORT + (UNLOCKED if unlocked else ())
                    limit = 240 if name in SLOW else 60
                    cases.append(Case(name + suffix, command, place, limit, environment, skip=skip, options=options))
    return cases


def ur_rtde(folder, _software):
    """Each scenario of ur_rtde's doctest suite, by itself."""
    program = sources.built_ur_rtde(folder)
    # Its own main() wants a robot before it lists anything; the names are in its source.
    text = (folder / f"ur_rtde-{sources.UR_RTDE}/test/main.cpp").read_text()
    names = re.findall(r'^SCENARIO\("(.*)"\)$', text, re.MULTILINE)
    assert names, "no scenario in the suite"
    # A comma separates filters; "?" stands for one character, parentheses for themselves.
    return [
        Case(name, [program, f"--test-case=*{name}"], folder / "build", 90)
        for name in names
    ]


# Seconds after which an endless example is interrupted.
ENDLESS = {"joint_pd_torque_control.py": 6, "realtime_control_example.py": 10, "record_data_example.py": 5}


def ur_rtde_examples(folder, software):
    """Each example of ur_rtde in Python."""
    python, place = sources.python(folder), sources.ur_rtde(folder) / "examples/py"
    cases = []
    for example in sorted(place.glob("*.py")):
        name, more = example.name, {}
        if name in ENDLESS:
            more = {"interrupt_after": ENDLESS[name]}
        if "torque" in name:
            # It does not catch the interrupt, and ends by it. One line for each cycle.
            more |= {"exit_codes": (-2, 1), "prints": ("torque:", 500), "environment": {"PYTHONUNBUFFERED": "1"}}
        if name == "test_external_control.py":
            more |= {"operator": "external_control.urp", "options": ("--external-control", CLIENT)}
        elif name == "move_until_contact.py":
            # Somewhere below the tool of each generation at its start.
            more |= {"options": ("--surface", "0,0,0.0,0,0,1")}
        words = [python, example]
        if name == "record_data_example.py" and software.startswith("3."):
            words += ["--frequency", "125"]
        cases.append(Case(name, words, folder / "build", 60, localhost=name != "test_external_control.py", **more))
    return cases


# Examples of urx that no host without their device can run.
DEVICES = {
    "get_robot.py": "opens an interactive shell of IPython",
    "joystick_control.py": "needs a joystick",
    "spnav_control.py": "needs a 3D mouse",
}


def urx(folder, _software):
    """Each example of urx."""
    python, place = sources.python(folder), sources.clone(folder, "urx")
    environment = {"PYTHONPATH": str(place)}
    cases = []
    for example in sorted((place / "examples").glob("*.py")):
        # With an argument it waits for nobody to press Enter.
        words = [python, example] + (["1"] if example.name == "test_all.py" else [])
        cases.append(Case(example.name, words, place, 120, environment, skip=DEVICES.get(example.name)))
    return cases


def rtde(folder, software):
    """The examples of UR's RTDE client."""
    python, place = sources.python(folder), sources.clone(folder, "rtde") / "examples"
    frequency = "125" if software.startswith("3.") else "500"
    record = [python, "record.py", "--samples", "500", "--frequency", frequency, "--output", os.devnull]
    loop = Case(
        "example_control_loop.py",
        [python, "example_control_loop.py"],
        place,
        60,
        {"PYTHONUNBUFFERED": "1"},
        interrupt_after=20,
        exit_codes=(-2, 1),
        prints=("Move to confirmed pose", 2),
        options=("--program", f"rtde_control_loop.urp={CONTROL_LOOP}"),
        operator="rtde_control_loop.urp",
        localhost=True,
    )
    return [
        loop,
        Case("example_plotting.py", [], place, skip="shows a window; asks nothing of a controller"),
        Case("plot.py", [], place, skip="shows a window; asks nothing of a controller"),
        Case("record.py", record, place, 30, prints=("Complete!", 1), localhost=True),
        Case("record.py --binary", [*record, "--binary"], place, 30, prints=("Complete!", 1), localhost=True),
    ]


# urx knows the layouts of these, and none of the three that every judge is run opposite.
OLDER = {"urx": ("1.8", "3.2")}

JUDGES = {
    "urcl": (urcl, f"UR's client library, commit {sources.CLONES['urcl'][1][:12]}: its GoogleTest cases that want a robot"),
    "ur_rtde": (ur_rtde, f"ur_rtde {sources.UR_RTDE}: its doctest suite in C++"),
    "ur_rtde-examples": (ur_rtde_examples, f"ur_rtde {sources.UR_RTDE}: its examples in Python"),
    "urx": (urx, "urx 0.11.0: its examples"),
    "rtde": (rtde, f"UR's RTDE client in Python, commit {sources.CLONES['rtde'][1][:12]}: its examples"),
}
