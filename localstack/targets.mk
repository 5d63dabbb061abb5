# LocalStack, in Docker or without it: docs/localstack.md.

.PHONY: localstack-up
localstack-up: ## Start LocalStack with SQS on 127.0.0.1:4566
	@localstack/up

.PHONY: localstack-down
localstack-down: ## Stop the LocalStack that localstack-up started
	@localstack/down

.PHONY: localstack-logs
localstack-logs: ## Print LocalStack's log
	@localstack/logs

.PHONY: localstack-test
localstack-test: build ## The whole suite on a real LocalStack, in real time
	@localstack/test

.PHONY: localstack-smoke
localstack-smoke: build ## The cases that do not wait, on a real LocalStack
	@localstack/test --quick
