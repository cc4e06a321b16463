"""Makes every call of ur_rtde's DashboardClient but the one that switches the controller off.

Usage: ur_rtde_dashboard.py ADDRESS

Each line of the output is a call and its result, or the error that it raised.
"""

import sys

from dashboard_client import DashboardClient

CALLS = (
    ("polyscopeVersion",),
    ("getRobotModel",),
    ("getSerialNumber",),
    ("robotmode",),
    ("safetymode",),
    ("safetystatus",),
    ("isInRemoteControl",),
    ("getLoadedProgram",),
    ("loadURP", "none.urp"),
    ("loadURP", "idle.urp"),
    ("getLoadedProgram",),
    ("isProgramSaved",),
    ("programState",),
    ("running",),
    ("play",),
    ("running",),
    ("programState",),
    ("pause",),
    ("programState",),
    ("play",),
    ("stop",),
    ("programState",),
    ("popup", "shift began"),
    ("closePopup",),
    ("closeSafetyPopup",),
    ("addToLog", "shift began"),
    ("powerOff",),
    ("powerOn",),
    ("brakeRelease",),
    ("unlockProtectiveStop",),
    ("restartSafety",),
    ("send", "robotmode\n"),
    ("receive",),
    ("quit",),
)


def main(address):
    client = DashboardClient(address)
    client.connect()
    print("isConnected", client.isConnected(), sep=": ")
    for name, *arguments in CALLS:
        try:
            answer = getattr(client, name)(*arguments)
        except RuntimeError as error:
            answer = f"! {error}"
        print(name, answer, sep=": ")
    client.disconnect()
    print("isConnected", client.isConnected(), sep=": ")


if __name__ == "__main__":
    main(sys.argv[1])
