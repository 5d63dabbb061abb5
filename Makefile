SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

TOOL := go tool -modfile=tools/go.mod
BIN  := bin

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the three programs into bin/
	go build -o $(BIN)/ ./cmd/...

# -count=1: e2e builds programs, and the test cache does not know of them.
.PHONY: test
test: ## Run all tests with the race detector
	go test -race -count=1 $(TESTFLAGS) ./...

.PHONY: crash-test
crash-test: ## Kill consumers and their database under 20,000 messages: nothing lost, nothing twice
	FIFOPROOF_CRASH=full go test -count=1 -v -timeout 40m -run '^TestCrash' ./e2e

.PHONY: ledger
ledger: ## One payment delivered three times: what a naive ledger makes of it, and what others do
	go run ./examples/ledger

.PHONY: herd
herd: ## A hundred clients that failed together: how jitter spreads their retries
	go run ./examples/herd

.PHONY: realtime-test
realtime-test: build ## One full window in real time: our own endpoint, and moto
	@PEERS="fifoproof moto" PEERS_OUT=out/realtime peers/test

.PHONY: verify
verify: build ## Run the conformance suite on the embedded endpoint
	$(BIN)/fifoproof verify

.PHONY: mutants
mutants: build ## Prove the suite: run it on faulty and legal variants, and hold docs/MUTANTS.md
	@$(BIN)/fifoproof mutants --markdown 2>/dev/null | diff -u docs/MUTANTS.md - && echo 'docs/MUTANTS.md is what the variants come to'

.PHONY: demo
demo: build ## Ten sends, a changed field, five minutes later: the story in a terminal
	examples/demo.sh $(BIN)

.PHONY: lint
lint: ## Check style and correctness with golangci-lint
	$(TOOL) golangci-lint run ./...

# Every file that says bash in its first line, wherever it is.
SCRIPTS = $(shell git grep -lI '^\#!/usr/bin/env bash' -- ':!*.md')

.PHONY: shell-test
shell-test: ## Check the shell scripts, with shellcheck and with stubs of what they start
	shellcheck -x $(SCRIPTS)
	localstack/tests/run

.PHONY: fmt
fmt: ## Format the code
	$(TOOL) golangci-lint fmt ./...

.PHONY: bench
bench: ## Measure the content hash against SHA-256, and the window's memory
	go test -run '^$$' -bench . ./internal/contenthash ./internal/window

.PHONY: fuzz
fuzz: ## Fuzz the content hash for ten minutes against its oracles
	go test -run '^$$' -fuzz '^FuzzCanonical$$' -fuzztime 10m -fuzzminimizetime 1s ./internal/contenthash

.PHONY: golden
golden: build ## Write the golden files and the generated documents anew
	go test ./cmd/... ./internal/report ./internal/conformance ./internal/timeline ./examples/herd ./examples/ledger -update
	go run ./examples/herd --svg docs/backoff.svg > /dev/null
	$(BIN)/fifoproof mutants --markdown > docs/MUTANTS.md

-include localstack/targets.mk peers/targets.mk dist/targets.mk terraform/targets.mk

.PHONY: clean
clean: ## Remove what the other targets made
	@localstack/down # its state lies in .cache
	rm -rf $(BIN) out .cache
