"""`dragoman serve`: models behind HTTP, with a page for people and the LibreTranslate interface for programs."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from dragoman.core.errors import UserError

EXAMPLES = """\
examples:
  dragoman serve models/en-de
  dragoman serve models/en-de models/de-en --port 8080
  dragoman serve models/en-de --host 192.168.1.5 --public --api-key-file keys.txt

The page is at /, the interface is described at /openapi.json, counters for Prometheus are at /metrics.
Programs made for LibreTranslate work unchanged. Without --public only this machine is served."""


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "serve",
        help="translate in the browser and over HTTP",
        description="Serve exported models: a page for people, the LibreTranslate interface for programs.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("models", type=Path, nargs="+", metavar="MODEL", help="a folder made by `dragoman export`")
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=5000, help="port to listen on; 0 for any that is free (5000)")
    parser.add_argument("--public", action="store_true", help="allow an address that other machines reach")
    parser.add_argument("--api-key-file", type=Path, metavar="FILE", help="keys, one a line; clients need one")
    for option, metavar, words in (
        ("--allow-host", "NAME", "a name that clients call this server by, such as that of a proxy"),
        ("--allow-origin", "URL", "a site whose pages may use this server"),
    ):
        parser.add_argument(option, action="append", default=[], metavar=metavar, help=words)
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="cores to translate with (all)")
    parser.set_defaults(run_verb=run)


def run(options: argparse.Namespace) -> None:
    if not 0 <= options.port <= 65_535:
        raise UserError(f"there is no port {options.port}", "take one from 1024 to 65535")
    if options.threads < 0:
        raise UserError("--threads is 1 or more, or 0 for all cores")
    from dragoman.serve.application import build
    from dragoman.serve.guard import LOOPBACK, Doors
    from dragoman.serve.models import open_models
    from dragoman.serve.server import is_loopback, listening_socket, read_keys, serve

    is_private = is_loopback(options.host)
    if not is_private and not options.public:
        raise UserError(
            f"other machines may reach {options.host}", "add --public if they shall, or take --host 127.0.0.1"
        )
    keys = read_keys(options.api_key_file) if options.api_key_file else []
    listener = listening_socket(options.host, options.port)  # before the models: a port in use is found at once
    with listener:
        models = open_models(options.models, options.threads)
        threads = options.threads or len(os.sched_getaffinity(0))
        names = {*LOOPBACK, *(name.lower() for name in options.allow_host)}
        is_any_name = not is_private and not options.allow_host
        doors = Doors(hosts=None if is_any_name else names, origins=tuple(options.allow_origin))
        app = build(models, doors=doors, api_keys=keys, threads=threads)
        for engine in models.engines:
            print(f"{engine.source_language} → {engine.target_language}  {engine.name}")
        host, port = listener.getsockname()[:2]
        print(f"http://{f'[{host}]' if ':' in host else host}:{port}", flush=True)
        if not is_private:
            _warn(options.host, bool(keys))
        serve(app, listener)


def _warn(host: str, has_keys: bool) -> None:
    print(f"dragoman: other machines may reach {host}; texts and keys cross the network unencrypted", file=sys.stderr)
    if not has_keys:
        print("dragoman: whoever reaches it may use it; --api-key-file asks for a key", file=sys.stderr)
