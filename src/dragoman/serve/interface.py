"""The addresses of the server: those of LibreTranslate, and two that our page needs.

Each handler reads its fields, asks for translations, and gives an object. Limits, keys, time and clients that hang up
are the same for all of them and stand in `_worked`.
"""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Sequence
from pathlib import PurePosixPath
from urllib.parse import quote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from dragoman.serve import files, languages
from dragoman.serve.guard import HUNG_UP
from dragoman.serve.limits import Limits
from dragoman.serve.metrics import CONTENT_TYPE, Metrics
from dragoman.serve.models import Engine, Models
from dragoman.serve.openapi import describe
from dragoman.serve.refusal import RefusedError, busy, invalid, too_large
from dragoman.serve.requests import Fields, read_fields
from dragoman.serve.sentence_queue import ModelFailedError, SentenceQueue
from dragoman.serve.shelf import Shelf
from dragoman.serve.translations import Translations

AUTO = "auto"
NOT_LOADED = "The text is in {}; this server translates from {}."


class Interface:
    """The handlers, and what they share."""

    def __init__(
        self,
        models: Models,
        queue: SentenceQueue,
        metrics: Metrics,
        limits: Limits,
        api_keys: Sequence[str] = (),
    ) -> None:
        self._models, self._queue, self._metrics, self._limits = models, queue, metrics, limits
        self._keys = [key.encode() for key in api_keys]
        self._translations = Translations(queue, limits)
        self._shelf = Shelf(most_bytes=16 * limits.file_bytes, keep_s=600)
        self._num_requests = 0

    # What is answered at once

    async def languages(self, _request: Request) -> Response:
        return JSONResponse(self._models.described())

    async def settings(self, _request: Request) -> Response:
        """What a page needs to know before it asks for anything."""
        first = self._models.engines[0]
        source, target = first.source_language.lower(), first.target_language.lower()
        limits = self._limits
        return JSONResponse(
            {
                "apiKeys": bool(self._keys),
                "keyRequired": bool(self._keys),
                "charLimit": limits.characters,
                "fileSizeLimit": limits.file_bytes,
                "frontendTimeout": 400,
                "suggestions": False,
                "filesTranslation": True,
                "supportedFilesFormat": list(files.SUFFIXES),
                "models": [engine.name for engine in self._models.engines],
                "language": {
                    "source": {"code": source, "name": languages.name_of(source)},
                    "target": {"code": target, "name": languages.name_of(target)},
                },
            }
        )

    async def health(self, _request: Request) -> Response:
        if not self._queue.is_alive:
            raise RefusedError(500, "The server translates no more; start it again.")
        return JSONResponse({"status": "ok"})

    async def metrics(self, request: Request) -> Response:
        self._check_key(_bearer(request))
        return Response(self._metrics.text(self._queue), media_type=CONTENT_TYPE)

    async def openapi(self, _request: Request) -> Response:
        return JSONResponse(describe(self._models, self._limits, needs_key=bool(self._keys)))

    async def download(self, request: Request) -> Response:
        """A translated file; the key in the address is all that fetches it."""
        file = self._shelf.get(request.path_params["key"])
        if file is None:
            raise RefusedError(404, "This file is not here; translated files are kept for ten minutes.")
        disposition = f"attachment; filename*=UTF-8''{quote(file.name)}"
        return Response(
            file.content, media_type="application/octet-stream", headers={"Content-Disposition": disposition}
        )

    # What is worked for

    async def translate(self, request: Request) -> Response:
        return await self._worked(request, self._translate)

    async def sentences(self, request: Request) -> Response:
        return await self._worked(request, self._sentences)

    async def alternatives(self, request: Request) -> Response:
        return await self._worked(request, self._alternatives)

    async def detect(self, request: Request) -> Response:
        return await self._worked(request, self._detect)

    async def translate_file(self, request: Request) -> Response:
        async def work(fields: Fields) -> object:
            key, left_lines = await self._translate_file(fields)
            return {"translatedFileUrl": str(request.url_for("download", key=key)), "leftLines": left_lines}

        return await self._worked(request, work, self._limits.file_bytes, self._limits.file_s)

    async def _translate(self, fields: Fields) -> object:
        texts, is_list = fields.texts("q")
        num = fields.number("alternatives", 0, self._limits.alternatives)
        kind = fields.text("format", "text")
        if kind not in ("text", "html"):
            raise invalid("format must be text or html")
        self._check_length(texts)
        engine, detected = await self._engine(fields, texts)
        if kind == "html":
            ranked = [[(await files.retold(text, ".html", self._rank(engine))).text] for text in texts]
        else:
            ranked = await self._translations.ranked(engine, texts, 1 + num)
        best = [each[0] for each in ranked]
        answer: dict[str, object] = {"translatedText": best if is_list else best[0]}
        if num:
            others = [each[1:] for each in ranked]
            answer["alternatives"] = others if is_list else others[0]
        if detected is not None:
            answer["detectedLanguage"] = [detected] * len(texts) if is_list else detected
        return answer

    async def _sentences(self, fields: Fields) -> object:
        text = fields.text("q")
        self._check_length([text])
        engine, detected = await self._engine(fields, [text])
        pairs = await self._translations.pairs(engine, text)
        answer: dict[str, object] = {"sentences": [{"source": source, "target": target} for source, target in pairs]}
        if detected is not None:
            answer["detectedLanguage"] = detected
        return answer

    async def _alternatives(self, fields: Fields) -> object:
        text, prefix = fields.text("q"), fields.text("prefix", "")
        num = fields.number("alternatives", 4, self._limits.alternatives)
        self._check_length([text, prefix])
        engine, _ = await self._engine(fields, [text])
        return {"alternatives": await self._translations.ways_on(engine, text, prefix, num) if num else []}

    async def _detect(self, fields: Fields) -> object:
        texts, _ = fields.texts("q")
        self._check_length(texts)
        found = await asyncio.to_thread(languages.detect, "\n".join(texts), self._models.source_languages)
        if not found:
            raise RefusedError(501, "None of the languages that are loaded here can be told from others.")
        return [_described(each) for each in found]

    async def _translate_file(self, fields: Fields) -> tuple[str, tuple[int, ...]]:
        if fields.file is None:
            raise invalid("missing file parameter")
        name, content = fields.file
        name = PurePosixPath(name.replace("\\", "/")).name  # a name to show, never a path
        text, suffix = files.readable(name, content)
        if len(text) > self._limits.file_characters:
            raise too_large(f"The file has {len(text):,} characters; {self._limits.file_characters:,} are the most.")
        engine, _ = await self._engine(fields, [text])
        retold = await files.retold(text, suffix, self._rank(engine))
        named = f"{PurePosixPath(name).stem}.{engine.target_language}{suffix}"
        return self._shelf.put(named, retold.text.encode()), retold.left_lines

    # What all of them share

    def _rank(self, engine: Engine) -> files.Rank:
        return lambda texts, num: self._translations.ranked(engine, texts, num, self._limits.file_sentences)

    async def _engine(self, fields: Fields, texts: Sequence[str]) -> tuple[Engine, dict[str, object] | None]:
        """The model that was asked for, and what was detected where it was left to us."""
        source, target = fields.text("source"), fields.text("target")
        if source.strip().lower() != AUTO:
            return self._models.find(source, target), None
        codes = [code for code in self._models.source_languages if target in self._models.targets_of(code)]
        text = "\n".join(texts)
        foreign = await asyncio.to_thread(languages.foreign_language, text, self._models.source_languages)
        if foreign is not None:
            known = ", ".join(map(languages.name_of, self._models.source_languages))
            raise RefusedError(400, NOT_LOADED.format(languages.name_of(foreign), known))
        found = await asyncio.to_thread(languages.detect, text, codes or self._models.source_languages)
        if not found:
            raise RefusedError(400, "The language of the text cannot be detected here; name it as the source.")
        return self._models.find(found[0].language, target), _described(found[0])

    def _check_length(self, texts: Sequence[str]) -> None:
        if (characters := sum(map(len, texts))) > self._limits.characters:
            raise too_large(f"The text has {characters:,} characters; {self._limits.characters:,} are the most.")

    def _check_key(self, given: str) -> None:
        """Takes as long for a key that is nearly right as for one that is not."""
        matches = [hmac.compare_digest(given.encode(), key) for key in self._keys]
        if self._keys and not any(matches):
            raise RefusedError(403, "This server needs an API key." if not given else "The API key is not valid.")

    async def _worked(
        self,
        request: Request,
        work: Callable[[Fields], Awaitable[object]],
        most_bytes: int | None = None,
        seconds: float | None = None,
    ) -> Response:
        limits = self._limits
        if self._num_requests >= limits.requests:
            raise busy(1)
        self._num_requests += 1
        self._metrics.in_flight.set(self._num_requests)
        try:
            fields = await read_fields(request, most_bytes or limits.body_bytes, limits.body_s)
            self._check_key(fields.text("api_key", "") or _bearer(request))
            return await _answered(request, work(fields), seconds or limits.text_s)
        except ClientDisconnect:
            return Response(status_code=HUNG_UP)
        finally:
            self._num_requests -= 1
            self._metrics.in_flight.set(self._num_requests)


async def _answered(request: Request, work: Awaitable[object], seconds: float) -> Response:
    """The answer; work is given up when the time is over or nobody waits for it any more."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_hung_up(request))
    try:
        await asyncio.wait((task, gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return JSONResponse(task.result())
        if gone.done():
            return Response(status_code=HUNG_UP)
        raise RefusedError(504, f"The translation was not ready within {seconds:g} s; send less at once.")
    except ModelFailedError:
        raise RefusedError(500, "The model could not translate this.") from None
    finally:
        task.cancel()
        gone.cancel()


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _bearer(request: Request) -> str:
    kind, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if kind.lower() == "bearer" else ""


def _described(detected: languages.Detected) -> dict[str, object]:
    return {"confidence": round(100 * detected.confidence, 1), "language": detected.language}
