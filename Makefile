# What a person can do with a fresh clone. Needs Python 3.11 or newer and make; everything else goes into .venv.

PYTHON ?= python3
in_venv := .venv/bin/python

.PHONY: help demo test lint check hosts browser slow bench bench-peers FORCE
.DELETE_ON_ERROR:

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*  ## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r target words; do \
		printf '  make %-11s %s\n' "$$target" "$$words"; done

demo: .venv/complete  ## a translation model from nothing, on this machine
	@.venv/bin/dragoman demo

test: .venv/complete  ## every test but the slow ones
	@$(in_venv) -m pytest -m "not slow and not hosts and not browser"

lint: .venv/complete  ## format, lint and types
	@$(in_venv) -m ruff format --check .
	@$(in_venv) -m ruff check .
	@$(in_venv) -m mypy

check: lint test  ## lint and test, then the longest files and functions, for the eye
	@$(in_venv) tools/longest.py src

slow: .venv/complete  ## tests that learn or download real things
	@$(in_venv) -m pytest -m slow

hosts: .venv/complete  ## several machines, as network namespaces with their own SSH (needs root)
	@$(in_venv) -m pytest -rs -m "hosts and not slow"

browser: .venv/complete  ## the pages in Chromium, where it is installed
	@$(in_venv) -m pytest -m "browser and not slow"

bench: .venv/complete  ## measurements, written to benchmarks/
	@$(in_venv) -m benchmarks

bench-peers: .venv/complete  ## ours beside its peers, which are installed apart; writes docs/PEERS.md
	@$(in_venv) -m benchmarks.peers --quiet

# The stamp holds the directory it was made for: an environment that was moved with its clone is made anew.
ifneq ($(shell cat .venv/complete 2>/dev/null),$(CURDIR))
.venv/complete: FORCE
endif

.venv/complete: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "Dragoman needs Python 3.11 or newer; there is no $(PYTHON) here." >&2; exit 1; }
	@$(PYTHON) tools/set_up.py
