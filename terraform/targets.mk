# A staging queue on AWS, or with STAGING=local on LocalStack: docs/operations.md.

.PHONY: staging-plan
staging-plan: ## Show what Terraform would change at the staging queue
	@terraform/staging plan $(STAGING_FLAGS)

.PHONY: staging-up
staging-up: ## Make the staging queue; STAGING=local makes it on LocalStack
	@terraform/staging up $(STAGING_FLAGS)

.PHONY: staging-test
staging-test: build ## Verify beside the staging queue and on it
	@terraform/staging test $(STAGING_FLAGS)

.PHONY: staging-down
staging-down: ## Destroy the staging queue
	@terraform/staging down $(STAGING_FLAGS)

.PHONY: staging
staging: build ## All three, and down whatever ends it
	@terraform/staging run $(STAGING_FLAGS)

.PHONY: terraform-test
terraform-test: build ## Check the Terraform files, the module and the staging scripts
	@terraform/tests/run

.PHONY: tflint
tflint: ## Lint the Terraform files, where tflint is installed
	@command -v tflint >/dev/null || { echo 'tflint is not installed: go install github.com/terraform-linters/tflint@v0.64.0' >&2; exit 69; }
	tflint --chdir=terraform --recursive
