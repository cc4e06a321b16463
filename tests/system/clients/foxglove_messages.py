"""Makes messages of foxglove-sdk, by the authors of the schemas, of decoded JSON. A field that a schema lacks, and a
value of another type, is an error. So is a schema in JSON that does not describe each field."""

import math

from foxglove import messages

# The message classes of fields that contain messages, where the name of the field does not say it.
PARTS = {
    "timestamp": "Timestamp",
    "lifetime": "Duration",
    "joints": "JointState",
    "transforms": "FrameTransform",
    "translation": "Vector3",
    "rotation": "Quaternion",
    "orientation": "Quaternion",
    "position": "Vector3",
    "size": "Vector3",
    "entities": "SceneEntity",
    "spheres": "SpherePrimitive",
    "cylinders": "CylinderPrimitive",
    "pose": "Pose",
    "color": "Color",
}
LEVELS = ["Unknown", "Debug", "Info", "Warning", "Error", "Fatal"]


def parse(name, value):
    """Returns the message with this name, e.g. foxglove.Log, and encodes it."""
    message = make(name.removeprefix("foxglove."), value)
    if not message.encode():
        raise ValueError(f"{name}: it is empty")
    if type(message).get_schema().name != name:
        raise ValueError(f"{name}: its schema has another name")
    return message


def make(kind, value):
    fields = {field: part(field, inner) for field, inner in value.items()}
    return getattr(messages, kind)(**fields)


def part(field, value):
    if isinstance(value, dict):
        return make(PARTS[field], value)
    if isinstance(value, list):
        return [make(PARTS[field], item) for item in value]
    return getattr(messages.LogLevel, LEVELS[value]) if field == "level" else value


def described(value, schema, where):
    """Checks that the schema in JSON describes each value, and each item of each list."""
    if isinstance(value, dict):
        for name, inner in value.items():
            described(inner, schema["properties"][name], f"{where}.{name}")
        if set(value) == {"sec", "nsec"}:
            check(schema["title"] in ("time", "duration"), f"{where}: no title")
    if isinstance(value, list):
        check("type" in schema["items"], f"{where}: no type of items")
        for item in value:
            described(item, schema["items"], where)


def check(holds, text):
    if not holds:
        raise ValueError(text)


def turned(q, v):
    """Returns the vector v turned by the quaternion q."""
    x, y, z, w = q["x"], q["y"], q["z"], q["w"]
    t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2], v[2] + w * t[2] + x * t[1] - y * t[0]]


def tool(transforms):
    """Returns where the chain of transforms from base to tool puts the tool: its position, and a point 1 m along z."""
    points, frame, chain = [[0, 0, 0], [0, 0, 1]], "tool", {t["child_frame_id"]: t for t in transforms["transforms"]}
    while frame != "base":
        t = chain.pop(frame)
        points = [[a + t["translation"][k] for a, k in zip(turned(t["rotation"], point), "xyz")] for point in points]
        check(abs(math.hypot(*t["rotation"].values()) - 1) < 1e-6, f"{frame}: no unit quaternion")
        frame = t["parent_frame_id"]
    check(not chain, f"frames that lead nowhere: {list(chain)}")
    return points


def drawn(scene, transforms):
    """Checks that each entity of the arm is fixed to a frame, and that its cylinder ends at the next frame."""
    children = {t["parent_frame_id"]: t for t in transforms["transforms"]}
    cylinders = 0
    for entity in scene["entities"]:
        check(entity["frame_locked"] and entity["id"] == entity["frame_id"], f"{entity['id']}: not fixed")
        for cylinder in entity["cylinders"]:
            position, length = cylinder["pose"]["position"], cylinder["size"]["z"]
            along = turned(cylinder["pose"]["orientation"], [0, 0, length / 2])
            end = [position[k] + a for k, a in zip("xyz", along)]
            goal = [children[entity["frame_id"]]["translation"][k] for k in "xyz"]
            check(all(abs(a - b) < 1e-4 for a, b in zip(end, goal)), f"{entity['id']}: ends at {end}, not {goal}")
            cylinders += 1
    return cylinders
