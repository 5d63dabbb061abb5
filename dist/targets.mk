# Packages of the programs, and what CI runs of the action: docs/packages.md, docs/ci.md.

.PHONY: dist
dist: ## Build archives for all systems into out/dist, with checksums and an SBOM
	@dist/build

.PHONY: dist-check
dist-check: ## Check what dist made: checksums, contents, sizes, and that this system's programs run
	@dist/check

.PHONY: actionlint
actionlint: ## Check the workflows and their scripts
	go tool -modfile=tools/dist/go.mod actionlint

.PHONY: action-test
action-test: build ## Run the action's script on a good and on a faulty endpoint
	@action/tests/run

.PHONY: dockerfile-lint
dockerfile-lint: ## Check the Dockerfile with hadolint
	@dist/lint-dockerfile
