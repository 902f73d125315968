// Package faultproxy is a proxy between a process and its DynamoDB that injects network faults, on command or by a seed:
// partitions, half-open connections, slowness, resets, answers lost after the effect, throttling, and a wrong server clock.
//
// It forwards HTTP/1.1 without TLS, request by request, so each fault hits exactly one request and can be counted.
package faultproxy
