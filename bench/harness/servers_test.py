#!/usr/bin/env python3
"""servers_test: servers that do wrong are found out, and none is left running.

    servers_test.py ECHO_LOAD EPOLL_ECHO

The servers that do wrong are threads of this test. No figure is looked at but for being there: the test
says nothing about speed.
"""

import json
import os
import select
import socket
import subprocess
import sys
import threading
import unittest
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import servers  # noqa: E402
from harness.contestants import RunFailed  # noqa: E402

ECHO_LOAD = EPOLL_ECHO = ""


class BadServer:
    """Serves each connection in a thread: `answer(i, data)` is what goes back for its i-th read; None ends it."""

    def __init__(self, answer):
        self.answer = answer
        self.listener = socket.create_server((servers.HOST, 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        try:
            with connection:
                for i in range(1_000_000):
                    data = connection.recv(65536)
                    reply = self.answer(i, data) if data else None
                    if reply is None:
                        return
                    connection.sendall(reply)
        except OSError:
            pass  # the client has gone, as it should


def load(port, connections=4, seconds=0.2, size=64):
    words = [ECHO_LOAD, servers.HOST, port, connections, seconds, size]
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=50)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


class TheClient(unittest.TestCase):
    def assert_finds(self, answer, words, **options):
        code, result, said = load(BadServer(answer).port, **options)
        self.assertEqual(code, 1, said)
        self.assertGreater(result["errors"], 0)
        self.assertIn(words, said)

    def test_finds_nothing_wrong_with_an_echo(self):
        code, result, said = load(BadServer(lambda i, data: data).port)
        self.assertEqual((code, result["errors"], said), (0, 0, ""))
        self.assertGreater(result["requests"], 0)
        self.assertGreaterEqual(result["total"], result["requests"])
        self.assertLessEqual(result["p50_us"], result["p99_us"])

    def test_finds_a_changed_byte(self):
        def one_bit_of_the_tenth(i, data):
            return data[:63] + bytes([data[63] ^ 1]) + data[64:] if i == 10 else data

        self.assert_finds(one_bit_of_the_tenth, "byte 63 is ")

    def test_finds_a_byte_too_many(self):
        self.assert_finds(lambda i, data: data + b"x" if i == 10 else data, "bytes more than were sent")

    def test_finds_a_byte_that_never_comes(self):
        self.assert_finds(lambda i, data: data[:-1] if i == 0 else data, "no reply within")

    def test_finds_the_reply_to_an_earlier_request(self):
        first = {}

        def stale(i, data):
            return first.setdefault(threading.get_ident(), data)

        self.assert_finds(stale, "byte 0 is ")

    def test_finds_the_reply_to_another_connection(self):
        shared = []

        def mixed_up(i, data):
            shared.append(data)
            return shared[0]

        self.assert_finds(mixed_up, "request 1: byte")

    def test_finds_a_connection_that_is_ended(self):
        self.assert_finds(lambda i, data: data if i < 10 else None, "the server ended it")

    def test_cannot_load_a_port_where_nobody_listens(self):
        with socket.create_server((servers.HOST, 0)) as listener:
            port = listener.getsockname()[1]
        code, result, said = load(port)
        self.assertEqual((code, result), (2, None))
        self.assertIn("connect", said)


class TheServer(unittest.TestCase):
    def test_keeps_what_a_client_does_not_read_yet(self):
        block = bytes(range(256)) * 257  # no power of two, so that a part that is lost is seen
        sent, came = 0, bytearray()
        with servers.running([EPOLL_ECHO, "0", "1"]) as (_, port):
            with socket.create_connection((servers.HOST, port), timeout=30) as client:
                # Until all buffers on the way there and back are full.
                while select.select([], [client], [], 0.5)[1]:
                    client.setblocking(False)
                    sent += client.send(block[sent % len(block) :])
                client.settimeout(30)
                # The end comes after all that was kept.
                client.shutdown(socket.SHUT_WR)
                while data := client.recv(1 << 20):
                    came += data
        self.assertEqual(len(came), sent)
        self.assertTrue(bytes(came) == (block * (sent // len(block) + 1))[:sent], "the bytes are not the same")

    def test_echoes_large_requests(self):
        with servers.running([EPOLL_ECHO, "0", "2"]) as (_, port):
            code, result, said = load(port, connections=3, size=1 << 20)
        self.assertEqual((code, result["errors"]), (0, 0), said)
        self.assertGreater(result["total"], 0)

    def test_is_gone_afterwards(self):
        with servers.running([EPOLL_ECHO, "0", "1"]) as (server, _):
            os.kill(server.pid, 0)
        self.assertIsNotNone(server.returncode)

    def test_that_ends_by_itself_is_a_failure(self):
        with self.assertRaisesRegex(RunFailed, "ended by itself, exit code 2: usage"):
            with servers.running([EPOLL_ECHO]):
                pass
        with self.assertRaisesRegex(RunFailed, "ended by itself"):
            with servers.running([EPOLL_ECHO, "0", "1"]) as (server, _):
                server.terminate()
                server.wait()

    def test_that_says_something_else_is_a_failure(self):
        with self.assertRaisesRegex(RunFailed, "and not `ready <port>`"):
            with servers.running(["echo", "hello"]):
                pass


WRK = """Running 2s test @ http://127.0.0.1:8080/
  2 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.49ms    2.11ms  40.13ms   92.25%
    Req/Sec    42.35k     4.31k   51.20k    70.00%
  Latency Distribution
     50%  940.00us
     75%    1.70ms
     90%    3.20ms
     99%   10.25ms
  168612 requests in 2.00s, 21.06MB read
Requests/sec:  84211.93
Transfer/sec:     10.52MB
"""


class WhatWrkSays(unittest.TestCase):
    def test_is_read(self):
        wanted = {"per_second": 84211.93, "total": 168612, "p50_us": 940, "p99_us": 10250}
        self.assertEqual(servers.figures_of_wrk(WRK), wanted)

    def test_with_errors_is_a_failure(self):
        for line in ("  Socket errors: connect 0, read 3, write 0, timeout 0\n", "  Non-2xx or 3xx responses: 7\n"):
            with self.assertRaisesRegex(RunFailed, line.strip()):
                servers.figures_of_wrk(WRK.replace("Requests/sec", line + "Requests/sec"))

    def test_without_figures_is_a_failure(self):
        for text in ("", WRK.replace("99%", "98%"), WRK.replace("168612 requests", "0 requests")):
            with self.assertRaisesRegex(RunFailed, "cannot be read"):
                servers.figures_of_wrk(text)


def http_answer(text):
    return BadServer(lambda i, data: text.replace("\n", "\r\n").replace("!\r\n", "!\n").encode()).port


class WhatHttpServersAnswer(unittest.TestCase):
    GOOD = "HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 14\nDate: now\n\nHello, World!\n"

    def test_is_accepted_when_right(self):
        servers.check_hello(http_answer(self.GOOD))

    def test_is_looked_at(self):
        wrong = {"200 OK": "404 No", "World!": "Wirld!", "text/plain": "text/html", "Date: now\n": "",
                 "Date: now": "Date: now\nConnection: close"}  # fmt: skip
        for right, instead in wrong.items():
            with self.assertRaisesRegex(RunFailed, "GET /: "):
                servers.check_hello(http_answer(self.GOOD.replace(right, instead)))


if __name__ == "__main__":
    EPOLL_ECHO = sys.argv.pop()
    ECHO_LOAD = sys.argv.pop()
    unittest.main()
