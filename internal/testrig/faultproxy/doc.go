// Package faultproxy stands between a process and its DynamoDB Local, and does to their requests what a network does, on
// command or by a seed: partitions, connections that are open at one end alone, slowness, resets, answers that are lost
// after the effect, copies that arrive late, a server's clock that is wrong.
//
// It speaks HTTP/1.1 without TLS, request by request, so that a fault meets exactly one of them and can be counted.
package faultproxy
