package emulator

import (
	"net/url"
	"regexp"
	"strings"
)

var (
	// At most 80 characters with the suffix (developer guide, "queue quotas").
	fifoName     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,75}\.fifo$`)
	standardName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)
)

// checkQueueKind checks the name and that a FIFO queue is asked for.
func checkQueueKind(name string, given map[string]string) error {
	kind, isGiven := given[attrFifoQueue]
	isFIFO, err := parseBool(attrFifoQueue, kind)
	switch {
	case isGiven && err != nil:
		return err
	case isFIFO && !fifoName.MatchString(name):
		return invalidParameter("The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, " +
			"must end with .fifo suffix and be 1 to 80 in length.")
	case isFIFO:
		return nil
	case !standardName.MatchString(name):
		return invalidParameter("Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length.")
	}
	for _, attribute := range []string{attrFifoQueue, attrContentBased} {
		if _, isGiven := given[attribute]; isGiven {
			return invalidAttributeName(attribute)
		}
	}
	for _, attribute := range []string{attrScope, attrLimit} {
		if _, isGiven := given[attribute]; isGiven {
			return onlyFIFO(attribute)
		}
	}
	return unsupported("Standard queues are not served here, only FIFO queues: end the name in .fifo and set FifoQueue to true.")
}

// queueNameIn is the name in a queue URL. Hosts are not compared, since an
// endpoint goes by many names.
func queueNameIn(queueURL string) (string, error) {
	u, err := url.Parse(queueURL)
	if err != nil || u.Host == "" {
		return "", invalidAddress(queueURL)
	}
	account, name, ok := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	switch {
	case !ok || name == "" || strings.Contains(name, "/"):
		return "", invalidAddress(queueURL)
	case account != Account:
		return "", noSuchQueue()
	}
	return name, nil
}
