# Everything here needs Go 1.26 or later and nothing else; a C compiler, if there
# is one, adds the race detector to the tests. Run `make help` for the targets.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

BIN := $(CURDIR)/bin
MODULES := $(patsubst %/go.mod,%,$(shell find . -name go.mod -not -path '*/testdata/*' -not -path './.*/*'))
SOURCES = $(shell find . -name '*.go' -not -path '*/testdata/*' -not -path './.*/*')
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
LIBRARY_PLATFORMS := linux/arm64 windows/amd64 linux/386

# The libraries as programs are built with them (the race detector turns their
# checking mode on), with each of their tags, by the oldest Go that they need, and
# in 32 bits where such programs run.
# Tests that build programs themselves do the same each time.
BUILDS := -also 'rt' \
	-also 'rt -tags=heaptrimcheck -skip=Misuse|Inline ./arena' \
	-also 'rt -tags=heaptrimcheck -skip=Inline ./pool' \
	-also 'rt GOTOOLCHAIN=go1.25.13 -skip=Misuse|Inline' \
	$(if $(filter linux/amd64,$(shell go env GOHOSTOS GOHOSTARCH | paste -sd/)),-also 'rt GOARCH=386 -short -skip=Misuse|Inline')

# Packages with one goroutine, whose tests read source or run other processes for minutes: the race detector
# finds nothing there and doubles the time.
PLAIN := -plain '. . ./analyzers ./cmd/heaptrimvet ./internal/rewrite ./internal/trial/equal'

# Tests and builds belong to one module each, whatever workspace they stand in.
export GOWORK := off

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

# The tests of the page need a browser. Where it is missing and cannot be
# installed, they are skipped and say so.
.PHONY: browser
browser:
	@command -v chromium chromium-browser google-chrome headless-shell >/dev/null || \
	{ [[ "$$(id -u)" == 0 ]] && command -v apt-get >/dev/null && apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null && echo "installed chromium"; } || \
	echo "no Chromium, and none that can be installed: the tests of the page will be skipped"

# What compares allocators is one text, written out for each of them.
.PHONY: generate
generate: ## write the tests of the lab that are made from a text
	go -C lab generate ./libraries/arena

.PHONY: test
test: browser generate ## test every module, with the race detector where there are goroutines; SHORT=1 leaves out what takes long
	go -C tools run ./testall -dir .. -race $(if $(SHORT),-short) $(if $(SUMMARY),-summary '$(SUMMARY)') $(PLAIN) $(BUILDS)

.PHONY: lint
lint: $(BIN)/staticcheck generate ## gofmt, go vet and staticcheck on every module, and the import policy
	@unformatted="$$(gofmt -l $(SOURCES))"; \
	if [[ -n "$$unformatted" ]]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	@status=0; for module in $(MODULES); do \
		echo "vet and staticcheck $$module"; \
		( cd "$$module" && go vet ./... && $(BIN)/staticcheck ./... ) || status=1; \
	done; exit $$status
	go test -count=1 -run 'TestLayers|TestForbidden|TestOnlyMain' .

$(BIN)/staticcheck: tools/go.mod tools/go.sum
	go -C tools build -o $@ honnef.co/go/tools/cmd/staticcheck
	@touch $@

.PHONY: cross
cross: ## build for every platform, and type-check the tests there
	@for platform in $(PLATFORMS); do \
		echo "build $$platform"; \
		CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} go build ./...; \
	done
	@for system in darwin windows; do \
		echo "vet $$system"; \
		CGO_ENABLED=0 GOOS=$$system GOARCH=amd64 go vet ./...; \
	done
	@for platform in $(LIBRARY_PLATFORMS); do \
		echo "build and vet rt $$platform"; \
		export CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/}; \
		go -C rt build ./...; \
		go -C rt vet ./...; \
	done

.PHONY: bench
bench: ## run the benchmarks of the tool's own packages
	go test -run '^$$' -bench . -benchmem ./internal/...

.PHONY: cover
cover: ## test the root module with coverage, and list it by function
	mkdir -p $(BIN)
	go test -coverprofile=$(BIN)/cover.out -coverpkg=./internal/...,./cmd/... ./...
	go tool cover -func=$(BIN)/cover.out

.PHONY: fmt
fmt: ## format the source
	gofmt -w $(SOURCES)

.PHONY: clean
clean: ## remove what the other targets made
	rm -rf $(BIN)
