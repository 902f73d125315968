package dynamoapi

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
)

// A stream has one shard from its begin to its end: the journal is one sequence, and a restart goes on in it. So there
// are no parents and children, and a reader is done when the shard has an end and it has come there.

// stream finds a stream by its ARN. It can be read for a day after it was ended or its table deleted.
func (c *call) stream(arn string) (store.TableStream, error) {
	return streamAmong(arn, func(table string) ([]store.TableStream, error) { return c.api.store.StreamsOf(table), nil })
}

func streamAmong(arn string, of func(table string) ([]store.TableStream, error)) (store.TableStream, error) {
	table, label, ok := streamOfARN(arn)
	if !ok {
		return store.TableStream{}, errValidation("Invalid StreamArn")
	}
	streams, err := of(table)
	if err != nil {
		return store.TableStream{}, err
	}
	for _, st := range streams {
		if st.Label == label {
			return st, nil
		}
	}
	return store.TableStream{}, refuse(ofModel+"ResourceNotFoundException", "Requested resource not found: Stream: %s not found", arn)
}

// constrainStreamARN is the rule for the ARNs of streams.
func constrainStreamARN(c *constraints, at string, v wire.Opt[string]) { c.length(at, v, 37, 1024) }

func constrainShard(c *constraints, at string, v wire.Opt[string]) { c.length(at, v, 28, 65) }

// shardID is the name of a stream's shard: when it began, in milliseconds, and eight hexadecimal digits.
func shardID(st store.TableStream) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(st.TableID + st.Label)) // never fails
	return fmt.Sprintf("shardId-%020d-%08x", st.Began.UnixMilli(), h.Sum32())
}

// sequenceNumber writes a sequence of the journal as a number of 21 digits: in order as numbers and as texts, across
// restarts too.
func sequenceNumber(seq uint64) string { return fmt.Sprintf("1%020d", seq) }

func parseSequence(text string) (seq uint64, ok bool) {
	digits, ok := strings.CutPrefix(text, "1")
	if !ok || len(digits) != 20 {
		return 0, false
	}
	seq, err := strconv.ParseUint(digits, 10, 64)
	return seq, err == nil
}

func errTrimmed() error {
	return refuse(ofModel+"TrimmedDataAccessException", "The operation attempted to read past the oldest stream record in a shard")
}
