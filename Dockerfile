# The three programs and nothing else: no shell, no user root.
#
#   docker build --build-arg COMMIT="$(git rev-parse HEAD)" -t fifoproof .
#   docker run --rm fifoproof verify
#   docker run --rm -p 127.0.0.1:9324:9324 fifoproof serve --addr 0.0.0.0:9324 --public
#   docker run --rm --entrypoint /producer fifoproof --help

FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY internal internal
ARG TARGETOS
ARG TARGETARCH
ARG COMMIT=unknown
# The folders have to be made here: from scratch, there is nothing to make them with.
RUN mkdir -p /programs /root-of-image/tmp /root-of-image/data \
    && chmod 1777 /root-of-image/tmp \
    && CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -tags grpcnotrace,nethttpomithttp2 -trimpath -buildvcs=false \
       -ldflags "-s -w -X 'fifoproof/internal/cli.commit=$COMMIT'" -o /programs/ ./cmd/...

FROM scratch
LABEL org.opencontainers.image.title="fifoproof" \
      org.opencontainers.image.description="Proves what an Amazon SQS FIFO queue does with duplicates" \
      org.opencontainers.image.licenses="Apache-2.0"
# For AWS, whose certificates the programs check.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /root-of-image/tmp /tmp
COPY --from=build --chown=65532:65532 /root-of-image/data /data
COPY --from=build /programs/fifoproof /programs/producer /programs/consumer /
USER 65532:65532
# Reports, send logs and receipts are written here: mount a folder.
WORKDIR /data
EXPOSE 9324
ENTRYPOINT ["/fifoproof"]
