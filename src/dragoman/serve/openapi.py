"""The interface as OpenAPI 3.1 describes it: every address, every status, and the languages that are loaded."""

from typing import Any

import dragoman
from dragoman.serve.limits import Limits
from dragoman.serve.models import Models

Node = dict[str, Any]
_WHY = {
    400: "The request cannot be understood, or asks for languages that are not loaded",
    403: "An API key is needed, or the request comes from a page of another site",
    404: "There is nothing at this address",
    408: "The request arrived too slowly",
    413: "The request is too large, or has too many characters or sentences",
    415: "The body, or the file, is of a kind that is not read here",
    421: "The request calls the server by a name that is not its own",
    429: "Too many requests at once; Retry-After says when to come back",
    500: "The model failed",
    501: "None of the loaded languages can be detected",
    504: "The translation took too long",
}
_TEXT: Node = {"type": "string"}


def describe(models: Models, limits: Limits, *, needs_key: bool) -> Node:
    """The whole description, as `/openapi.json` gives it."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Dragoman",
            "version": dragoman.__version__,
            "summary": "Translation by the models that are loaded, with the interface of LibreTranslate.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {**_working(models, limits, needs_key), **_reading(needs_key)},
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "description": "The API key"}},
        },
    }


def _working(models: Models, limits: Limits, needs_key: bool) -> Node:
    text: Node = {"type": "string", "maxLength": limits.characters}
    q: Node = {"oneOf": [text, {"type": "array", "items": text}], "description": "One text, or a list of them"}
    sources: Node = {"type": "string", "enum": [*models.source_languages, "auto"]}
    pair: Node = {"source": sources, "target": {"type": "string", "enum": models.target_languages}}
    number: Node = {"type": "integer", "minimum": 0, "maximum": limits.alternatives, "default": 0}
    kind: Node = {"type": "string", "enum": ["text", "html"], "default": "text"}
    file: Node = {"type": "string", "format": "binary"}

    def post(summary: str, answer: str, fields: Node, needed: list[str], extra: tuple[int, ...] = ()) -> Node:
        schema = _body({**fields, "api_key": _TEXT}, [*needed, *(["api_key"] if needs_key else [])])
        kinds = ["multipart/form-data"] if "file" in fields else _BODIES
        refusals = (400, 403, 408, 413, 415, 421, 429, 500, 504, *extra)
        return {
            "post": {
                "summary": summary,
                "requestBody": {"required": True, "content": {each: {"schema": schema} for each in kinds}},
                "responses": {"200": _json(f"#/components/schemas/{answer}"), **_refusals(refusals)},
            }
        }

    return {
        "/translate": post(
            "Translate a text, or several",
            "Translation",
            {"q": q, **pair, "format": kind, "alternatives": number},
            ["q", "source", "target"],
        ),
        "/translate_file": post(
            "Translate a file; its structure stays", "File", {"file": file, **pair}, ["file", "source", "target"]
        ),
        "/sentences": post(
            "Translate a text and say which sentence became which",
            "Sentences",
            {"q": text, **pair},
            ["q", "source", "target"],
        ),
        "/alternatives": post(
            "Other translations of a sentence that begin alike",
            "Alternatives",
            {"q": text, **pair, "prefix": text, "alternatives": {**number, "default": 4}},
            ["q", "source", "target"],
        ),
        "/detect": post("How likely a text is in each loaded language", "Detection", {"q": q}, ["q"], (501,)),
    }


_BODIES = ["application/json", "application/x-www-form-urlencoded"]


def _reading(needs_key: bool) -> Node:
    def get(summary: str, content: Node, refusals: tuple[int, ...] = (421,), **more: Any) -> Node:
        return {"get": {"summary": summary, "responses": {"200": content, **_refusals((403, *refusals))}, **more}}

    plain = {"description": "Text", "content": {"text/plain": {"schema": _TEXT}}}
    octets = {"description": "The file", "content": {"application/octet-stream": {"schema": _TEXT}}}
    parts = [{"name": "key", "in": "path", "required": True, "schema": _TEXT}]
    secured: Node = {"security": [{"bearer": []}]} if needs_key else {}
    return {
        "/download_file/{key}": get("A translated file", octets, (404, 421), parameters=parts),
        "/languages": get("Languages that can be translated from, and into which", _json(_ref("Languages"))),
        "/frontend/settings": get("What a page needs to know", _json(_ref("Settings"))),
        "/health": get("Whether the server works", _json(_ref("Health")), (421, 500)),
        "/metrics": get("Counters for Prometheus", plain, (421,), **secured),
    }


def _schemas() -> Node:
    texts: Node = {"type": "array", "items": _TEXT}
    detected = _object({"confidence": {"type": "number", "minimum": 0, "maximum": 100}, "language": _TEXT})
    language = _object({"code": _TEXT, "name": _TEXT})
    yes_or_no: Node = {"type": "boolean"}
    whole: Node = {"type": "integer"}
    pair = _object({"source": _TEXT, "target": _TEXT})
    reference = {"$ref": _ref("Detected")}
    either = {"oneOf": [reference, {"type": "array", "items": reference}]}
    return {
        "Error": _object({"error": _TEXT}),
        "Detected": detected,
        "Detection": {"type": "array", "items": reference},
        "Translation": _object(
            {
                "translatedText": {"oneOf": [_TEXT, texts]},
                "alternatives": {"anyOf": [texts, {"type": "array", "items": texts}]},
                "detectedLanguage": either,
            },
            ["translatedText"],
        ),
        "Sentences": _object(
            {"sentences": {"type": "array", "items": pair}, "detectedLanguage": reference}, ["sentences"]
        ),
        "Alternatives": _object({"alternatives": texts}),
        "File": _object(
            {
                "translatedFileUrl": {"type": "string", "format": "uri"},
                "leftLines": {"type": "array", "items": whole, "description": "Lines whose text was left as it was"},
            }
        ),
        "Languages": {"type": "array", "items": _object({"code": _TEXT, "name": _TEXT, "targets": texts})},
        "Settings": _object(
            {
                **dict.fromkeys(("apiKeys", "keyRequired", "suggestions", "filesTranslation"), yes_or_no),
                **dict.fromkeys(("charLimit", "fileSizeLimit", "frontendTimeout"), whole),
                "supportedFilesFormat": texts,
                "models": texts,
                "language": _object({"source": language, "target": language}),
            }
        ),
        "Health": _object({"status": {"const": "ok"}}),
    }


def _object(properties: Node, required: list[str] | None = None) -> Node:
    needed = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def _body(properties: Node, required: list[str]) -> Node:
    return {"type": "object", "properties": properties, "required": required}


def _ref(schema: str) -> str:
    return f"#/components/schemas/{schema}"


def _json(reference: str) -> Node:
    return {"description": "Done", "content": {"application/json": {"schema": {"$ref": reference}}}}


def _refusals(statuses: tuple[int, ...]) -> Node:
    found = {str(status): {**_json(_ref("Error")), "description": _WHY[status]} for status in statuses}
    if "429" in found:
        found["429"]["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds"}}
    return found
