"""servers: a contestant's server, a client that puts load on it, and what came of that.

A server is a program that prints `ready <port>` when it listens on 127.0.0.1, and serves until SIGTERM.
Each run has a server of its own. The client is the same for all contestants: `echo_load` for echo, which
checks every byte that comes back; `wrk` for HTTP, which does not, so the answer is looked at before.
Client and server share the machine, so requests per second tell two servers apart less clearly than the
processor time that the server takes for each, which is read as well.
"""

import functools
import http.client
import json
import os
import re
import resource
import select
import shutil
import subprocess
import tempfile
from contextlib import contextmanager

from harness import contestants
from harness.contestants import RunFailed, Unavailable

HOST = "127.0.0.1"
ECHO_BYTES = 64
HELLO = b"Hello, World!\n"
READY_LIMIT_S = 10
STOP_LIMIT_S = 5
LOAD_SLACK_S = 30  # for a client to end, beyond the time it was told


@functools.cache
def client(service):
    """The program that puts load on such a server."""
    if service == "echo":
        return str(contestants.build_echo_load())
    wrk = shutil.which("wrk")
    if not wrk:
        raise Unavailable("there is no `wrk` (Debian: wrk)")
    return wrk


def measure(words, service, connections, seconds, program=None):
    """Starts the server, puts load on it (with `program`, if given), stops it. {figure: value}"""
    _allow_descriptors()
    load = {"echo": _load_echo, "http": _load_http}[service]
    with running(words) as (server, port):
        before = _cpu_seconds(server.pid)
        result = load(program or client(service), port, connections, seconds)
        used = _cpu_seconds(server.pid) - before
    result["server_us_each"] = used * 1e6 / result["total"]
    return result


@contextmanager
def running(words):
    """(process, port) of a server that listens. It must still be there at the end."""
    with tempfile.TemporaryFile("w+") as said:
        try:
            server = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, text=True)
        except OSError as error:
            raise RunFailed(str(error)) from None
        try:
            yield server, _port(server, said)
            if server.poll() is not None:
                raise RunFailed(_ended(server, said))
        finally:
            _stop(server)


def _port(server, said):
    if not select.select([server.stdout], [], [], READY_LIMIT_S)[0]:
        raise RunFailed(f"the server is not ready within {READY_LIMIT_S} s")
    line = server.stdout.readline()
    ready = re.fullmatch(r"ready (\d+)\n", line)
    if ready:
        return int(ready[1])
    if line:
        raise RunFailed(f"the server said {line.strip()[:80]!r} and not `ready <port>`")
    server.wait()
    raise RunFailed(_ended(server, said))


def _ended(server, said):
    said.seek(0)
    first = said.readline().strip()
    return f"the server ended by itself, exit code {server.returncode}" + (f": {first}" if first else "")


def _stop(server):
    server.terminate()
    try:
        server.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    server.stdout.close()


def _allow_descriptors():
    # The servers and clients inherit it. Many systems allow 1,024 until somebody asks.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _cpu_seconds(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()  # a name may hold anything, even ")"
    except OSError:
        raise RunFailed("the server ended by itself") from None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # utime, stime


def _run_client(words, seconds):
    try:
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=seconds + LOAD_SLACK_S)
    except subprocess.TimeoutExpired:
        raise RunFailed(f"the client did not end within {LOAD_SLACK_S} s of its time") from None
    if done.returncode != 0:
        first = (done.stderr.strip() or done.stdout.strip()).splitlines()[:1]
        raise RunFailed(f"the client's exit code is {done.returncode}" + "".join(f": {line}" for line in first))
    return done.stdout


def _load_echo(program, port, connections, seconds):
    result = json.loads(_run_client([program, HOST, port, connections, seconds, ECHO_BYTES], seconds))
    if result["requests"] == 0:
        raise RunFailed("no request was answered")
    return result


def check_hello(port):
    """One connection must give the right answer twice, with the headers that Go's server sends by itself."""
    connection = http.client.HTTPConnection(HOST, port, timeout=READY_LIMIT_S)
    try:
        for _ in range(2):
            connection.request("GET", "/")
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200 or body != HELLO or answer.version != 11:
                raise RunFailed(f"GET /: HTTP version {answer.version}, status {answer.status}, {body[:40]!r}")
            if not answer.getheader("Content-Type", "").startswith("text/plain"):
                raise RunFailed("GET /: the Content-Type is not text/plain")
            if answer.getheader("Content-Length") != str(len(HELLO)) or not answer.getheader("Date"):
                raise RunFailed("GET /: Content-Length or Date is missing")
            if answer.will_close:
                raise RunFailed("GET /: the connection was not kept")
    except (OSError, http.client.HTTPException) as error:
        raise RunFailed(f"GET /: {error!r}") from None
    finally:
        connection.close()


def _load_http(program, port, connections, seconds):
    check_hello(port)
    seconds = max(1, round(seconds))  # wrk takes whole ones
    words = [program, "-t2", f"-c{connections}", f"-d{seconds}s", "--latency", f"http://{HOST}:{port}/"]
    return figures_of_wrk(_run_client(words, seconds))


_US = {"us": 1, "ms": 1e3, "s": 1e6, "m": 60e6}


def figures_of_wrk(text):
    """What `wrk --latency` printed, as figures. Any error it counts is a failure."""
    errors = re.search(r"Socket errors:.*|Non-2xx or 3xx responses:.*", text)
    if errors:
        raise RunFailed(f"wrk: {errors[0]}")
    rate = re.search(r"^Requests/sec:\s+([\d.]+)", text, re.M)
    total = re.search(r"^\s+(\d+) requests in ", text, re.M)
    times = {share: re.search(rf"^\s+{share}%\s+([\d.]+)(us|ms|s|m)$", text, re.M) for share in (50, 99)}
    if not (rate and total and all(times.values())) or int(total[1]) == 0:
        raise RunFailed(f"wrk's figures cannot be read: {text.strip()[-80:]!r}")
    result = {f"p{share}_us": float(found[1]) * _US[found[2]] for share, found in times.items()}
    return {"per_second": float(rate[1]), "total": int(total[1]), **result}
