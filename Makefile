# The front door for people. Each target first makes sure that what it needs is installed (tools/setup), then drives
# CMake's presets. The build trees lie in build/<preset>.

MAKEFLAGS += --no-print-directory
SHELL := /bin/bash
export JOBS ?= $(shell nproc)
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)
export NINJA_STATUS ?= [%f/%t %es] 

.DEFAULT_GOAL := help
.PHONY: help demo test check bench soak format clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## build weft and run the showcase
	@tools/setup demo
	@tools/ci/demo.sh

test: ## build the tests and run them all
	@tools/setup test
	@tools/ci/release.sh

check: ## every lane of tools/ci/lanes.sh
	@tools/setup check
	@tools/ci/all.sh

bench: ## measure weft beside Go, Boost.Fiber and plain epoll
	@tools/setup bench
	@bench/run

soak: ## random programs for MINUTES=10, and does anything grow?
	@tools/setup test
	@tools/ci/soak.sh $$(( $(or $(MINUTES),10) * 60 ))

format: ## rewrite the sources in weft's format
	@tools/setup format
	@tools/ci/style.sh --fix

clean: ## remove all build trees
	@rm -rf build
