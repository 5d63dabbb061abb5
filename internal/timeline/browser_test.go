package timeline

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/receipt"
)

// browser starts a browser for the test: the one that FIFOPROOF_CHROMIUM names, or one
// in PATH. Without one the test is skipped, but not in CI.
func browser(t *testing.T) context.Context {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless-shell"}
	if named := os.Getenv("FIFOPROOF_CHROMIUM"); named != "" {
		names = []string{named}
	}
	i := slices.IndexFunc(names, func(name string) bool { _, err := exec.LookPath(name); return err == nil })
	switch {
	case i < 0 && (os.Getenv("CI") != "" || os.Getenv("FIFOPROOF_CHROMIUM") != ""):
		t.Fatal("no Chromium in PATH by any of the names ", names)
	case i < 0:
		t.Skip("no Chromium: install one, or name it with FIFOPROOF_CHROMIUM")
	}
	file, err := exec.LookPath(names[i])
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(file), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("hide-scrollbars", true),
	)...)
	t.Cleanup(stop)
	ctx, shut := chromedp.NewContext(ctx)
	t.Cleanup(shut)
	return ctx
}

// offer serves the page of receipts, and counts what else is asked for.
func offer(t *testing.T, receipts []receipt.Receipt) (url string, others *atomic.Int32) {
	t.Helper()
	page := draw(t, receipts, 3)
	others = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, page)
		case "/favicon.ico": // the browser's own idea
			http.NotFound(w, r)
		default:
			others.Add(1)
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, others
}

func eval[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	require.NoError(t, err, expression)
	return value
}

func look(t *testing.T, ctx context.Context, width int64, scheme, media string) {
	t.Helper()
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	require.NoError(t, err)
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, 900, chromedp.EmulateScale(1))))
}

// hostileDay is day with every text from outside turned against the page.
func hostileDay() []receipt.Receipt {
	receipts := day()
	for i := range receipts {
		r := &receipts[i]
		r.Group, r.Reason, r.MessageID, r.Attempt.Worker = hostile+r.Group, hostile, hostile+r.MessageID, hostile
	}
	return receipts
}

// The page fits a phone and a wide screen, in light, dark and on paper, open or not; it
// is styled though its policy allows one style sheet alone, and asks for nothing.
func TestPageInABrowser(t *testing.T) {
	ctx := browser(t)
	for name, receipts := range map[string][]receipt.Receipt{"day": day(), "hostile": hostileDay(), "many": many(300, 7), "none": nil} {
		url, others := offer(t, receipts)
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(url)))
		for _, v := range []struct {
			width         int64
			scheme, media string
			paper         string
		}{
			{1280, "light", "", "rgb(255, 255, 255)"},
			{1280, "dark", "", "rgb(20, 23, 28)"},
			{360, "light", "", "rgb(255, 255, 255)"},
			{794, "dark", "print", "rgb(255, 255, 255)"},
		} {
			look(t, ctx, v.width, v.scheme, v.media)
			require.Equal(t, v.paper, eval[string](t, ctx, `getComputedStyle(document.body).backgroundColor`), "%s %v", name, v)
			for _, open := range []string{"false", "true"} {
				eval[int](t, ctx, `document.querySelectorAll('details').forEach(d => d.open = `+open+`), 0`)
				require.LessOrEqual(t, eval[int](t, ctx, `document.documentElement.scrollWidth`), int(v.width), "%s %v", name, v)
			}
		}
		require.Zero(t, eval[int](t, ctx, `document.scripts.length + document.images.length`), "what a message says stays text")
		require.Zero(t, others.Load())
		require.Empty(t, eval[[]string](t, ctx, `[...document.querySelectorAll('a[href^="#"]')].map(a => a.getAttribute('href').slice(1)).filter(id => !document.getElementById(id))`),
			"each link within the page has its end")
	}
}

// Every delivery is drawn, has a text of its own, and lies within its drawing; and each
// drawing has a name and a description for those who do not see it.
func TestDrawingInABrowser(t *testing.T) {
	ctx := browser(t)
	url, _ := offer(t, day())
	look(t, ctx, 1280, "light", "")
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(url)))
	require.Equal(t, 10, eval[int](t, ctx, `[...document.querySelectorAll('.drawing use')].filter(u => u.getBoundingClientRect().width > 4 && u.querySelector('title').textContent).length`))
	require.Equal(t, 8, eval[int](t, ctx, `[...document.querySelectorAll('.drawing rect.try')].filter(r => r.getBoundingClientRect().width > 0 && r.querySelector('title').textContent).length`))
	require.Empty(t, eval[[]string](t, ctx, `[...document.querySelectorAll('svg[role=img]')].filter(s => s.getAttribute('aria-labelledby').split(' ').some(id => !document.getElementById(id)?.textContent)).map(s => s.outerHTML.slice(0, 200))`))
	// The six kinds look different without colour too.
	require.Equal(t, 6, eval[int](t, ctx, `new Set([...document.querySelectorAll('#shapes [id^=mark-]')].map(s => s.tagName + [...s.attributes].filter(a => a.name !== 'id').map(a => a.value))).size`))
	// On paper the exact times are there, folded or not.
	look(t, ctx, 794, "light", "print")
	require.True(t, eval[bool](t, ctx, `document.querySelector('#r5').checkVisibility({contentVisibilityAuto: true})`))
}
