# Other SQS endpoints beside LocalStack: peers/README.md. PEERS="moto elasticmq" picks some.

.PHONY: peers-test
peers-test: build ## The whole suite on other SQS endpoints, side by side, in real time
	@peers/test

.PHONY: peers-smoke
peers-smoke: build ## The cases that do not wait, on other SQS endpoints
	@peers/test --quick
