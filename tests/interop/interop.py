#!/usr/bin/env python3
"""interop: programs that others wrote talk to weft's examples, and weft's client to a server that others wrote.

    interop.py curl|wrk|redis_cli|redis_benchmark|nginx|https_curl|https_wrk|https_nginx|https_refused <http_server> <http_client> <resp_server>

Exits 77 (skipped) where the other program is not installed.
"""

import contextlib
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
PATIENCE = 30  # seconds


def need(program):
    if shutil.which(program) is None and not pathlib.Path("/usr/sbin", program).exists():
        print(f"{program} is not installed")
        sys.exit(SKIPPED)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def attempt(*words, stdin=None):
    return subprocess.run([str(w) for w in words], input=stdin, capture_output=True, text=True, timeout=PATIENCE)


def run(*words, stdin=None):
    done = attempt(*words, stdin=stdin)
    assert done.returncode == 0, f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


@contextlib.contextmanager
def serving(*words, port):
    """The server runs, and answers at the port."""
    server = subprocess.Popen([str(w) for w in words], stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + PATIENCE
        while True:
            assert server.poll() is None, f"{words} ended by itself"
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < end, f"{words} does not answer"
            time.sleep(0.02)
        yield
        assert server.poll() is None, f"{words} ended by itself"
    finally:
        server.kill()
        server.wait()


class Certificates:
    """Certificates by the openssl program: an authority, and servers that it vouches for, or does not."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.authority = self.make("ca", "/CN=weft's tests")[0]
        self.stranger = self.make("stranger", "/CN=somebody else")[0]
        self.good = self.make("good", "/CN=good", by="ca", names="DNS:localhost,IP:127.0.0.1")
        self.elsewhere = self.make("elsewhere", "/CN=elsewhere", by="ca", names="DNS:elsewhere.test")
        self.expired = self.make("expired", "/CN=expired", by="ca", names="DNS:localhost,IP:127.0.0.1", days=-1)

    def make(self, name, subject, by=None, names=None, days=2):
        chain, key, request = (self.folder / f"{name}{end}" for end in (".pem", ".key", ".csr"))
        new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-subj", subject]
        if by is None:
            run("openssl", "req", "-x509", *new_key, "-days", days, "-out", chain)
            return chain, key
        extensions = self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={names}\n")
        run("openssl", "req", "-new", *new_key, "-out", request)
        run("openssl", "x509", "-req", "-in", request, "-CA", self.folder / f"{by}.pem", "-CAkey", self.folder / f"{by}.key",
            "-CAcreateserial", "-days", days, "-extfile", extensions, "-out", chain)
        return chain, key


@contextlib.contextmanager
def certificates():
    need("openssl")
    with tempfile.TemporaryDirectory() as folder:
        yield Certificates(folder)


def curl(http_server, tls=None):
    need("curl")
    port = free_port()
    url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    ask = ["curl", "-sS", "--http1.1"] + (["--cacert", tls.authority] if tls else [])
    with serving(http_server, port, *(["--tls", *tls.good] if tls else []), port=port):
        twice = run(*ask, "-w", "%{num_connects} ", f"{url}/", f"{url}/")
        assert twice == "Hello, World!\n1 Hello, World!\n0 ", f"one connection for both: {twice!r}"
        large = "weft " * 200_000
        assert run(*ask, "--data-binary", "@-", f"{url}/echo", stdin=large) == large
        assert run(*ask, "-o", "/dev/null", "-w", "%{http_code}", f"{url}/nothing") == "404"
        if not tls:
            return
        for version, limit in (("--tlsv1.2", "1.2"), ("--tlsv1.3", "1.3")):
            assert run(*ask, version, "--tls-max", limit, f"{url}/") == "Hello, World!\n", version
        refused = attempt("curl", "-sS", "--cacert", tls.stranger, f"{url}/")
        assert refused.returncode == 60, f"curl believed a stranger: {refused}"
        assert run(*ask, f"{url}/") == "Hello, World!\n", "the server goes on after that"


def wrk(http_server, tls=None):
    need("wrk")
    port = free_port()
    with serving(http_server, port, *(["--tls", *tls.good] if tls else []), port=port):
        said = run("wrk", "-t2", "-c100", "-d2s", f"{'https' if tls else 'http'}://127.0.0.1:{port}/")
        assert "Socket errors" not in said and "Non-2xx" not in said, said
        assert int(re.search(r"(\d+) requests in", said).group(1)) > 100, said


def redis_cli(resp_server):
    need("redis-cli")
    port = free_port()
    ask = lambda *words: run("redis-cli", "-p", port, *words)  # noqa: E731
    with serving(resp_server, port, port=port):
        assert ask("ping") == "PONG\n"
        assert ask("set", "count", "41") == "OK\n"
        assert ask("incr", "count") == "42\n"
        assert ask("get", "count") == "42\n"
        assert ask("get", "nothing") == "\n"
        large = "x" * 500_000
        assert run("redis-cli", "-p", port, "-x", "set", "large", stdin=large) == "OK\n"
        assert ask("get", "large") == large + "\n"


def redis_benchmark(resp_server):
    need("redis-benchmark")
    port = free_port()
    with serving(resp_server, port, port=port):
        for pipeline in (1, 16):
            said = run("redis-benchmark", "-p", port, "-t", "set,get,incr", "-n", 20000, "-c", 50, "-P", pipeline, "--csv")
            for test in ("SET", "GET", "INCR"):
                found = re.search(rf'"{test}","([0-9.]+)"', said)
                assert found and float(found.group(1)) > 0, said


@contextlib.contextmanager
def nginx_serving(port, identity=None):
    need("nginx")
    secure = f"ssl_certificate {identity[0]}; ssl_certificate_key {identity[1]};" if identity else ""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "index.html").write_text("from nginx\n")
        (place / "large.txt").write_text("0123456789abcde\n" * 65536)
        (place / "nginx.conf").write_text(f"""
daemon off; worker_processes 1; pid {place}/pid; error_log {place}/error.log; user root;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {place}/b; proxy_temp_path {place}/p; fastcgi_temp_path {place}/f; uwsgi_temp_path {place}/u; scgi_temp_path {place}/s;
  server {{ listen 127.0.0.1:{port} {"ssl" if identity else ""}; root {place}; {secure} }}
}}
""")
        place.chmod(0o755)
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        with serving(program, "-p", place, "-c", place / "nginx.conf", port=port):
            yield


def nginx(http_client, tls=None):
    port = free_port()
    ask = [http_client] + (["--ca", tls.authority] if tls else [])
    where = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    with nginx_serving(port, tls.good if tls else None):
        assert run(*ask, f"{where}/", 3) == "200\nfrom nginx\n" * 3
        assert run(*ask, f"{where}/large.txt") == "200\n" + "0123456789abcde\n" * 65536
        assert run(*ask, f"{where}/nothing").startswith("404\n")


def refused(http_client, tls):
    """weft's client talks to nobody whose certificate is not in order, and says why."""
    for identity, authority, why in (
        (tls.expired, tls.authority, "certificate has expired"),
        (tls.elsewhere, tls.authority, "IP address mismatch"),
        (tls.good, tls.stranger, "unable to get local issuer certificate"),
        (tls.good, None, "unable to get local issuer certificate"),
    ):
        port = free_port()
        with nginx_serving(port, identity):
            ask = [http_client] + (["--ca", authority] if authority else [])
            said = attempt(*ask, f"https://127.0.0.1:{port}/")
            expected = f"http_client: tls 127.0.0.1:{port}: {why} (certificate verify failed)\n"
            assert said.returncode == 1 and said.stderr.lower() == expected.lower() and said.stdout == "", f"{said}\n{expected}"


def main():
    what, http_server, http_client, resp_server = sys.argv[1:]
    if what.startswith("https_"):
        with certificates() as tls:
            {
                "https_curl": lambda: curl(http_server, tls),
                "https_wrk": lambda: wrk(http_server, tls),
                "https_nginx": lambda: nginx(http_client, tls),
                "https_refused": lambda: refused(http_client, tls),
            }[what]()
        return
    {
        "curl": lambda: curl(http_server),
        "wrk": lambda: wrk(http_server),
        "redis_cli": lambda: redis_cli(resp_server),
        "redis_benchmark": lambda: redis_benchmark(resp_server),
        "nginx": lambda: nginx(http_client),
    }[what]()


main()
