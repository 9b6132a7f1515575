"""`report.json`: everything that the report says, for machines.

Version 1. `answers` holds one object a question: `key` is stable, `number` is 1 to 11 or null, `verdict` comes from a
fixed set for each key and is "undetermined" where the data do not say, `numbers` carry value, unit and the ends of an
interval, null where unknown. Readers should pass over fields that they do not know; a field that changes its meaning
raises the version.
"""

from typing import Any

import dragoman
from dragoman.core import records
from dragoman.report.report import Report

VERSION = 1


def as_json(report: Report) -> dict[str, Any]:
    """Plain lists and dictionaries."""
    facts = report.facts
    return {
        "schema": "dragoman-report",
        "version": VERSION,
        "made_by": f"dragoman {dragoman.__version__}",
        "run": {
            "name": facts.source.name,
            "system": facts.source.system,
            "is_running": facts.is_running,
            "ended": facts.ended,
            "last_step": facts.last_step,
            "training_s": facts.training_s,
            "started_s": facts.started_s,
            "ended_s": facts.ended_s,
        },
        "source": records.to_json(facts.source),
        "settings": records.to_json(facts.settings),
        "summary": records.to_json(report.summary),
        "answers": [records.to_json(answer) for answer in report.answers],
    }
