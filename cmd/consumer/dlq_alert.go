package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"fifoproof/internal/deadletter"
	"fifoproof/internal/handler"
	"fifoproof/internal/receipt"
)

// alertTime is how long an alert may take.
const alertTime = 30 * time.Second

// alert runs the command and calls the URL, whichever are named.
func (d *dlqDesk) alert(ctx context.Context, c *dlqWatch, r deadletter.Reading) error {
	ctx, cancel := context.WithTimeout(ctx, alertTime)
	defer cancel()
	r.Alerted = true // it will be
	given, err := json.Marshal(d.reading(c, r))
	if err != nil {
		return fmt.Errorf("writing the alert: %w", err)
	}
	var errs []error
	if c.AlertRun != "" {
		errs = append(errs, d.alertRun(ctx, c, r, given))
	}
	if c.AlertURL != "" {
		errs = append(errs, alertURL(ctx, c.AlertURL, given))
	}
	return errors.Join(errs...)
}

// alertRun runs a command of the shell, which ends with everything that it started when
// the time for it is over.
func (d *dlqDesk) alertRun(ctx context.Context, c *dlqWatch, r deadletter.Reading, given []byte) error {
	const script = `export FIFOPROOF_DEPTH="$1" FIFOPROOF_LIMIT="$2"; eval "$3"`
	shell, err := handler.NewExec([]string{"sh", "-c", script, "sh", strconv.Itoa(r.Depth.Total()), strconv.Itoa(*c.AlertOver), c.AlertRun}, 0, 0)
	if err != nil {
		return fmt.Errorf("running --alert-run: %w", err)
	}
	event := handler.Event{Delivery: receipt.Delivery{Queue: d.settings.Name}, Body: string(given) + "\n"}
	if _, err := shell.Call(ctx, event); err != nil {
		return fmt.Errorf("running --alert-run: %w", err)
	}
	return nil
}

// alertURL posts to a URL, which may be a secret: errors name its host alone.
func alertURL(ctx context.Context, to string, given []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(given))
	if err != nil {
		return errors.New("--alert-url cannot be called")
	}
	request.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err
		}
		return fmt.Errorf("calling %s: %w", request.URL.Host, err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16))
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("%s answered %s", request.URL.Host, answer.Status)
	}
	return nil
}
