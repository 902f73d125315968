// Package simcloud simulates DynamoDB: tables, conditions, updates, transactions with their tokens and reasons, paged reads, TTL,
// restored and re-created tables, all in memory and in virtual time. A Link is one node's network to it, with every fault that a network,
// a proxy or the service itself can have, decided by one seeded generator.
//
// Its answers are compared with DynamoDB Local's for the same random operations. It records every effect with the write id that caused
// it, for simulations to judge.
package simcloud
