"""The REST server of the Lance project (lance.namespace.RestAdapter) on a folder, until it is stopped."""

import signal
import sys

from lance.namespace import RestAdapter

port, root = int(sys.argv[1]), sys.argv[2]
with RestAdapter("dir", {"root": root}, host="127.0.0.1", port=port):
    print("ready", flush=True)
    signal.sigwait({signal.SIGINT, signal.SIGTERM})
