"""The judges' sources: pinned, checked to be unmodified, and built outside of the repository."""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile

# Name of the folder, address, commit.
CLONES = {
    "urcl": (
        "https://github.com/UniversalRobots/Universal_Robots_Client_Library",
        "c5d1e26c719d4c681ba03bf1a43d64806021557d",
    ),
    "rtde": (
        "https://github.com/UniversalRobots/RTDE_Python_Client_Library",
        "647788cc3474d7088d6aebdd9edde3bffa7f17ef",
    ),
    # The tag 0.11.0; its package is that of PyPI, which has no examples.
    "urx": ("https://github.com/SintefManufacturing/python-urx", "c5dba8594ca2fd09a29ca433171ad09956fb1482"),
}
UR_RTDE = "1.6.5"
UR_RTDE_SHA256 = "3d5b6c6bf73346b806d146f128537abd2afb1d769f4a9c8b3ef5a884fab0bcfa"
# The examples' own needs. urx takes math3d 3, whose 4.0 returns another type where it wants an array, and writes numbers as
# NumPy 1 prints them.
PACKAGES = ["ur_rtde==1.6.5", "numpy==1.26.4", "math3d==3.4.1", "psutil==7.2.2"]
# math3d 3 asks for names that Python 3.10 took away.
SITE = """import collections, collections.abc
for name in ("Iterable", "Sequence", "Callable"):
    if not hasattr(collections, name):
        setattr(collections, name, getattr(collections.abc, name))
"""
URCL_PROGRAMS = (
    "rtde_tests",
    "primary_client_test_headless",
    "dashboard_client_g5_tests",
    "dashboard_client_x_tests",
    "ur_driver_tests_headless",
    "spline_tests_headless",
    "external_control_program_tests_headless",
    "trajectory_streaming_tests_headless",
    "instruction_executor_test_headless",
    "ur_driver_deprecated_constructor_test",
)


@contextlib.contextmanager
def alone(folder):
    """Waits while another process builds in the same folder."""
    with open(folder / "build/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def sh(*words, cwd=None):
    """Runs a command quietly; ends this program with its output if it fails."""
    done = subprocess.run([str(word) for word in words], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        tail = done.stdout.decode(errors="replace")[-3000:]
        sys.exit(f"{' '.join(map(str, words))}\nfailed with exit code {done.returncode}:\n{tail}")
    return done.stdout.decode(errors="replace").strip()


def clone(folder, name):
    """Returns a clone at its pinned commit, without any change to a file of it."""
    url, commit = CLONES[name]
    place = folder / name
    if not place.is_dir():
        sh("git", "clone", "--quiet", url, place)
    if sh("git", "rev-parse", "HEAD", cwd=place) != commit:
        sh("git", "checkout", "--quiet", commit, cwd=place)
    changed = sh("git", "status", "--porcelain", "--untracked-files=no", cwd=place)
    if changed:
        sys.exit(f"{place} is modified; judges are run as their authors wrote them:\n{changed}")
    return place


def python(folder):
    """Returns the Python of an environment with the packages of the examples."""
    place = folder / "build" / "python"
    stamp = place / "packages"
    wanted = "\n".join([*PACKAGES, SITE])
    if not stamp.is_file() or stamp.read_text() != wanted:
        sh(sys.executable, "-m", "venv", "--clear", place)
        sh(place / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", *PACKAGES)
        (site,) = place.glob("lib/python*/site-packages")
        (site / "sitecustomize.py").write_text(SITE)
        stamp.write_text(wanted)
    return place / "bin/python"


def ur_rtde(folder):
    """Returns the unpacked source of ur_rtde, as PyPI has it."""
    archive = folder / f"ur_rtde-{UR_RTDE}.tar.gz"
    if not archive.is_file():
        words = ["download", "--quiet", "--no-binary", ":all:", "--no-deps", "--dest", folder]
        sh(sys.executable, "-m", "pip", *words, f"ur_rtde=={UR_RTDE}")
    if hashlib.sha256(archive.read_bytes()).hexdigest() != UR_RTDE_SHA256:
        sys.exit(f"{archive} is not the file of PyPI: expected SHA-256 {UR_RTDE_SHA256}")
    place = folder / f"ur_rtde-{UR_RTDE}"
    with tarfile.open(archive) as files:
        if not place.is_dir():
            files.extractall(folder, filter="data")
        for member in files:
            if member.isfile() and (folder / member.name).read_bytes() != files.extractfile(member).read():
                sys.exit(f"{folder / member.name} is modified; judges are run as their authors wrote them")
    return place


def built_ur_rtde(folder):
    """Returns the program of ur_rtde's doctest suite."""
    with alone(folder):
        return build_ur_rtde(folder, ur_rtde(folder))


def build_ur_rtde(folder, source):
    library, tests = folder / "build/ur_rtde", folder / "build/ur_rtde_test"
    options = ["-DPYTHON_BINDINGS=OFF", "-DEXAMPLES=OFF", "-DCMAKE_BUILD_TYPE=Release"]
    sh("cmake", "-S", source, "-B", library, *options)
    sh("cmake", "--build", library)
    sh("cmake", "-S", source / "test", "-B", tests, f"-Dur_rtde_DIR={library / 'ur_rtde'}")
    sh("cmake", "--build", tests)
    return tests / "tests"


def built_urcl(folder):
    """Returns the folder of the built test programs of UR's client library that speak with a robot."""
    source, build = clone(folder, "urcl"), folder / "build/urcl"
    with alone(folder):
        return build_urcl(source, build)


def build_urcl(source, build):
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DBUILDING_TESTS=ON", "-DINTEGRATION_TESTS=ON"]
    debian = pathlib.Path("/usr/src/googletest")
    if debian.is_dir():
        options.append(f"-DFETCHCONTENT_SOURCE_DIR_GOOGLETEST={debian}")
    sh("cmake", "-S", source, "-B", build, *options)
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", "1")
    sh("cmake", "--build", build, "--parallel", jobs, "--target", *URCL_PROGRAMS)
    return build / "tests"
