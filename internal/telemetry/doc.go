// Package telemetry owns how a running consumer is seen from outside: metrics for
// Prometheus, probes for whoever restarts processes, and a span per attempt for
// OpenTelemetry. It is a consumer's Observer and changes nothing.
//
// Metrics are named fifoproof_consumer_*, in seconds where they measure time. No label
// has values that grow with the traffic: message groups, MessageIds and keys never
// become labels; the receipts and the spans have them.
//
// The package never calls a queue or a store by itself, never sets up an exporter
// (that is for the program to decide), and never sees a body.
package telemetry
