"""What it costs lbotune serve if many look at a study and do not read what they are sent: by how
much its memory grows, and how long somebody else waits meanwhile.

    python3 bench/scripts/crowd.py [CLIENTS [TRIALS]]
"""
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

CLIENTS, TRIALS = [int(a) for a in sys.argv[1:] + ["500", "1500"][len(sys.argv) - 1:]]
SPEC = """command = 'echo loss={x}'
objective.metric = "loss"
params.x = { type = "float", min = 0, max = 1 }
optimizer.method = "random"
budget.trials = %d
run.workers = 4
""" % TRIALS


def memory(pid, what):
    """In MB; VmHWM is the most since it was last forgotten."""
    return int(re.search(what + r":\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def wait(url, token):
    begun = time.monotonic()
    request = urllib.request.Request(url, headers={"Authorization": "Bearer " + token})
    with urllib.request.urlopen(request, timeout=60) as got:
        got.read()
    return time.monotonic() - begun


with tempfile.TemporaryDirectory() as folder:
    program = os.path.join(folder, "lbotune")
    root = pathlib.Path(__file__).resolve().parents[2]
    subprocess.run(["go", "build", "-trimpath", "-o", program, "./cmd/lbotune"], cwd=root, check=True,
                   env=os.environ | {"CGO_ENABLED": "0"})
    pathlib.Path(folder, "spec.toml").write_text(SPEC)
    subprocess.run([program, "run", "-q", "spec.toml"], cwd=folder, check=True, capture_output=True)
    print(f"{CLIENTS} clients that do not read, a study of {TRIALS} trials; load {os.getloadavg()[0]:.1f}")
    for path in "events?since=0", "", "api/v1/study", "metrics", "log/1":
        serve = subprocess.Popen([program, "serve", "spec.toml", "--listen", "127.0.0.1:0"], cwd=folder,
                                 stderr=subprocess.PIPE, text=True)
        crowd = []
        try:
            _, host, port, token = re.match(r"(http://([^:]*):(\d+)/)\?token=(\w+)", serve.stderr.readline()).groups()
            url = f"http://{host}:{port}/"
            for other in "", "api/v1/study", "metrics", "metrics":
                alone = wait(url + other, token)
            pathlib.Path(f"/proc/{serve.pid}/clear_refs").write_text("5")  # forgets the most
            before = memory(serve.pid, "VmRSS")
            request = f"GET /{path} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
            for _ in range(CLIENTS):
                crowd.append(socket.create_connection((host, int(port))))
                crowd[-1].sendall(request)
            longest, until = 0, time.monotonic() + 10
            while time.monotonic() < until:
                longest = max(longest, wait(url + "metrics", token))
                time.sleep(0.02)
            print(f"/{path:15} {before:4.0f} MB before, {memory(serve.pid, 'VmHWM') - before:4.0f} MB more at most; "
                  f"another request waits {1000 * longest:.0f} ms at most, {1000 * alone:.0f} ms alone", flush=True)
        finally:
            for c in crowd:
                c.close()
            serve.terminate()
            serve.wait()
