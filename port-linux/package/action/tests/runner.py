"""Executes steps of a workflow and of composite actions as GitHub's runner does.

It has what the action and its page use: `uses` of the actions of this repository, `run`, `with`, `env`, `id`, `if: always()`, inputs
with defaults, outputs, and the runner's files and commands. Anything else is an error.
"""

import pathlib
import re
import subprocess

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[4]
OURS = re.compile(r"OWNER/outrigger/(port-linux/package/action(?:/stop)?)@v(\S+)")
# The workspace is made by the test.
CHECKOUT = re.compile(r"actions/checkout@[0-9a-f]{40}")
EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")
SHELL = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
SECONDS = 300


class Job:
    """A job with a workspace and a temporary folder. `failed`, `output`, `errors` and `warnings` tell what its steps did.

    `within` begins the command of each shell, for example with a network of its own.
    """

    def __init__(self, workspace, temporary, environment, within=()):
        self.shell = [*within, *SHELL]
        self.environment = {
            **environment,
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(workspace),
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": str(temporary),
        }
        self.workspace = workspace
        self.temporary = temporary
        self.outputs = {}
        self.failed = False
        self.output = ""
        self.errors = []
        self.warnings = []

    def run(self, steps):
        """Runs the steps of a job. Returns the outputs of each that has an id."""
        self._all(steps, {}, self.outputs, None)
        return self.outputs

    def _all(self, steps, inputs, outputs, action):
        # The steps of an action ask for its own failures, those of a job for all.
        before = self.failed
        self.failed = before and action is None
        for step in steps:
            only(step, "name", "id", "if", "uses", "with", "run", "shell", "env")
            if step.get("if", "always()") != "always()":
                raise ValueError(f"if: {step['if']}")
            if self.failed and "if" not in step:
                continue
            given = self._uses(step) if "uses" in step else self._run(step, inputs, outputs, action)
            if "id" in step:
                outputs[step["id"]] = given
        self.failed |= before

    def _uses(self, step):
        if CHECKOUT.fullmatch(step["uses"]):
            return {}
        folder = ROOT / OURS.fullmatch(step["uses"])[1]
        definition = yaml.safe_load((folder / "action.yml").read_text(encoding="utf-8"))
        only(definition, "name", "description", "author", "inputs", "outputs", "runs")
        only(definition["runs"], "using", "steps")
        assert definition["runs"]["using"] == "composite"
        declared = definition.get("inputs", {})
        only(step.get("with", {}), *declared)
        inputs = {name: text(entry.get("default", "")) for name, entry in declared.items()}
        # What a job's steps put into an action is evaluated outside of it.
        inputs.update({name: self._value(value, {}, self.outputs) for name, value in step.get("with", {}).items()})
        inner = {}
        self._all(definition["runs"]["steps"], inputs, inner, folder)
        return {name: self._value(entry["value"], inputs, inner) for name, entry in definition.get("outputs", {}).items()}

    def _run(self, step, inputs, outputs, action):
        if EXPRESSION.search(step["run"]):
            raise ValueError(f"an expression within the text of a shell: {step['run']}")
        if action and step["shell"] != "bash":
            raise ValueError(f"shell: {step['shell']}")
        environment = {**self.environment, **{name: self._value(v, inputs, outputs) for name, v in step.get("env", {}).items()}}
        if action:
            environment["GITHUB_ACTION_PATH"] = str(action)
        script, written = self.temporary / "script.sh", self.temporary / "output"
        script.write_text(step["run"], encoding="utf-8")
        written.write_text("", encoding="utf-8")
        environment["GITHUB_OUTPUT"] = str(written)
        # Ends only when nobody holds the output open, and so finds a simulator that would keep the step from ending.
        ended = subprocess.run(
            [*self.shell, str(script)],
            cwd=self.workspace,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        self.output += ended.stdout
        self._commands(ended.stdout)
        self.failed |= ended.returncode != 0
        return dict(line.split("=", 1) for line in written.read_text(encoding="utf-8").splitlines())

    def _commands(self, printed):
        stopped = None
        for line in printed.splitlines():
            command = re.fullmatch(r"::([a-z-]+|[0-9a-f]{32})::(.*)", line)
            if not command:
                continue
            name, said = command.groups()
            if stopped:
                stopped = None if name == stopped else stopped
            elif name == "stop-commands":
                stopped = said
            elif name == "error":
                self.errors.append(said)
            elif name == "warning":
                self.warnings.append(said)
            elif name not in ("group", "endgroup"):
                raise ValueError(line)
        assert stopped is None, "commands stay stopped after a step"

    def _value(self, value, inputs, outputs):
        def expression(found):
            scope, _, rest = found[1].partition(".")
            if scope == "inputs":
                return inputs[rest]
            step, between, name = rest.partition(".outputs.")
            if scope != "steps" or not between:
                raise ValueError(found[0])
            return str(outputs.get(step, {}).get(name, ""))

        return EXPRESSION.sub(expression, text(value))


def text(value):
    """Returns a value of YAML as an input or a variable has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def only(mapping, *known):
    unknown = set(mapping) - set(known)
    if unknown:
        raise ValueError(f"unknown: {', '.join(sorted(map(str, unknown)))}; there are: {', '.join(known)}")
