package target

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// remoteClock drives the standing clock of a 'fifoproof serve --clock virtual'. It
// believes to be the only one who moves it.
type remoteClock struct {
	url string

	mu  sync.Mutex
	now time.Time
}

// Now is the reading that the server gave last.
func (c *remoteClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Wait moves the server's clock to until, unless wake is ready already.
func (c *remoteClock) Wait(ctx context.Context, until time.Time, wake <-chan struct{}) error {
	select {
	case <-wake:
		return nil
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	by := until.Sub(c.now)
	if by <= 0 {
		return ctx.Err()
	}
	body, err := json.Marshal(map[string]string{"by": by.String()})
	if err != nil {
		return fmt.Errorf("moving the clock at %s: %w", c.url, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("moving the clock at %s: %w", c.url, err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("moving the clock at %s: %w", c.url, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("moving the clock at %s: the server answered %s", c.url, answer.Status)
	}
	var moved struct {
		Now time.Time `json:"now"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&moved); err != nil {
		return fmt.Errorf("moving the clock at %s: %w", c.url, err)
	}
	if want := c.now.Add(by); !moved.Now.Equal(want) {
		return fmt.Errorf("moving the clock at %s: it reads %s, not %s: somebody else moves it too", c.url, moved.Now, want)
	}
	c.now = moved.Now
	return nil
}
