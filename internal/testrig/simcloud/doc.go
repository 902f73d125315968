// Package simcloud is DynamoDB for simulations: tables, conditions, updates, transactions with their tokens and reasons,
// paged reads, TTL, restored and re-created tables, all in memory and under virtual time. A Link is one node's network
// in front of it, with every fault that a network, a proxy or the service itself shows, decided by one seeded generator.
//
// What it says is held to DynamoDB Local by the same random operations. It keeps a record of every effect, with the
// write id that caused it: what simulations judge.
package simcloud
