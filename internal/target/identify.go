package target

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"fifoproof/internal/awserr"
	"fifoproof/internal/cli"
	"fifoproof/internal/emulator"
)

// identifyTime bounds the question who is there.
const identifyTime = 10 * time.Second

// identify asks the health pages that are known, and reads the Server header of
// whoever has none. Only an endpoint that does not answer at all is an error.
func (t *Target) identify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, identifyTime)
	defer cancel()
	var ours emulator.Health
	header, err := t.page(ctx, emulator.HealthPath, &ours)
	if err != nil {
		return err
	}
	if ours.Name == own {
		t.Product, t.Version, t.Clock = own, ours.Version, ours.Clock
		if len(ours.Variants) > 0 {
			t.foreign = true
			t.Version += " with " + strings.Join(ours.Variants, ", ")
		}
		if ours.Clock == virtual {
			t.remote = &remoteClock{url: t.Name + emulator.AdvancePath, now: ours.Now}
		}
		return nil
	}
	// MiniStack serves LocalStack's page too, so it is asked for its own first.
	for _, other := range []struct{ product, path string }{
		{"MiniStack", "/_ministack/health"},
		{"LocalStack", "/_localstack/health"},
	} {
		var health struct {
			Services map[string]any
			Version  string
		}
		if _, err := t.page(ctx, other.path, &health); err != nil {
			return err
		}
		if len(health.Services) > 0 {
			t.Product, t.Version = other.product, health.Version
			return nil
		}
	}
	if product := header.Get("Server"); product != "" {
		name, version, _ := strings.Cut(strings.Fields(product)[0], "/")
		t.Server = name
		if version != "" {
			t.Server += " " + version
		}
	}
	return nil
}

// page reads a JSON page into target, if the endpoint has it, and returns the
// answer's header.
func (t *Target) page(ctx context.Context, path string, into any) (http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.Name+path, nil)
	if err != nil {
		return nil, fmt.Errorf("asking %s who it is: %w", t.Name, err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, cli.Hint(fmt.Errorf("nobody answers at %s: %w", t.Name, awserr.Brief(err)), "'fifoproof serve' starts an endpoint; --target names another, or 'embedded'")
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		// A page that is no such JSON is somebody else's.
		_ = json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(into)
	}
	return answer.Header, nil
}
