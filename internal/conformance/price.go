package conformance

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// What AWS charges for requests to FIFO queues (https://aws.amazon.com/sqs/pricing/, US
// East (N. Virginia), as of June 2026): half a dollar for a million, of which the first
// million of each month is free. Other regions charge up to about half as much again.
const (
	dollarsPerMillion = 0.50
	priceOf           = "US East (N. Virginia), June 2026; a month's first million are free"
	// chunk is how many bytes of payload AWS counts as one request.
	chunk = 64 << 10
)

// dollars is what requests cost.
func dollars(requests int) float64 { return float64(requests) * dollarsPerMillion / 1e6 }

// cost is what a plan costs on its target, in words. Only AWS charges; everything else
// is the user's own machine.
func (p *Plan) cost(target Setup) string {
	if !target.Charged {
		return "nothing"
	}
	return fmt.Sprintf("at most $%.4f: %d requests of up to 64 KB × $%.2f per million (%s)", p.Dollars, p.Requests, dollarsPerMillion, priceOf)
}

// meter counts requests as AWS charges them: by the chunks of what is sent or received,
// whichever is more. The bytes on the wire are a little more than the payload, so the
// count is never too low.
type meter struct {
	next sqs.HTTPClient

	mu       sync.Mutex
	requests int
}

// Do passes a request on and counts it.
func (m *meter) Do(request *http.Request) (*http.Response, error) {
	asked := max(request.ContentLength, 0)
	answer, err := m.next.Do(request)
	told := 0
	if err == nil {
		content, unread := rereadable(&answer.Body)
		if unread != nil {
			return nil, fmt.Errorf("counting the bytes of an answer: %w", unread)
		}
		told = len(content)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests += chunks(max(int(asked), told))
	return answer, err
}

// chunks is how many requests AWS counts for so many bytes.
func chunks(bytes int) int { return max((bytes+chunk-1)/chunk, 1) }
