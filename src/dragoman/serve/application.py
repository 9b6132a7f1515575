"""The application: addresses, the page, and what surrounds them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dragoman.serve import languages
from dragoman.serve.guard import Doors, Guard
from dragoman.serve.interface import Interface
from dragoman.serve.limits import Limits
from dragoman.serve.metrics import Metrics
from dragoman.serve.models import Models
from dragoman.serve.refusal import RefusedError
from dragoman.serve.sentence_queue import SentenceQueue

_PAGE = {
    "index.html": "text/html",
    "page.css": "text/css",
    **dict.fromkeys(("page.js", "asking.js", "translation.js"), "text/javascript"),
}


def build(
    models: Models,
    *,
    limits: Limits | None = None,
    doors: Doors | None = None,
    api_keys: Sequence[str] = (),
    threads: int = 1,
) -> Starlette:
    """An ASGI application that serves the models; its threads run while it does."""
    limits, doors = limits or Limits(), doors or Doors()
    metrics = Metrics()
    queue = SentenceQueue(limits.queued_sentences, metrics.translated, threads)
    interface = Interface(models, queue, metrics, limits, api_keys)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        queue.start()
        preparing = asyncio.ensure_future(asyncio.to_thread(languages.prepare))
        try:
            yield
        finally:
            queue.close()
            await preparing

    middleware = [Middleware(Guard, doors=doors, metrics=metrics)]
    if doors.origins:
        middleware.append(
            Middleware(
                CORSMiddleware,
                allow_origins=list(doors.origins),
                allow_methods=["GET", "POST"],
                allow_headers=["Content-Type"],
            )
        )
    return Starlette(
        routes=[*_routes(interface), *(_page(*file) for file in _PAGE.items())],
        middleware=middleware,
        exception_handlers={RefusedError: _refused, HTTPException: _not_found, Exception: _failed},
        lifespan=lifespan,
    )


def _routes(interface: Interface) -> list[Route]:
    return [
        Route("/translate", interface.translate, methods=["POST"]),
        Route("/translate_file", interface.translate_file, methods=["POST"]),
        Route("/download_file/{key}", interface.download, name="download"),
        Route("/sentences", interface.sentences, methods=["POST"]),
        Route("/alternatives", interface.alternatives, methods=["POST"]),
        Route("/detect", interface.detect, methods=["POST"]),
        Route("/languages", interface.languages),
        Route("/frontend/settings", interface.settings),
        Route("/health", interface.health),
        Route("/metrics", interface.metrics),
        Route("/openapi.json", interface.openapi),
        Route("/spec", interface.openapi),
    ]


def _page(name: str, media_type: str) -> Route:
    content = files("dragoman.serve").joinpath("page", name).read_bytes()

    async def show(_request: Request) -> Response:
        return Response(content, media_type=media_type, headers={"Cache-Control": "no-cache"})

    return Route("/" if name == "index.html" else f"/{name}", show)


def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return JSONResponse({"error": error.sentence}, error.status, error.headers)


def _not_found(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = {404: "There is nothing at this address.", 405: "This address is asked in another way."}
    return JSONResponse({"error": sentence.get(error.status_code, error.detail)}, error.status_code, error.headers)


def _failed(_request: Request, _error: Exception) -> Response:
    return JSONResponse({"error": "Something went wrong here; the server's log says what."}, 500)
