package report_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/conformance"
	"fifoproof/internal/report"
)

// screenshots is where -update puts the pictures, from this package's folder.
const screenshots = "../../docs/screenshots"

// browser starts a browser for the test: the one that FIFOPROOF_CHROMIUM names, or one
// in PATH. Without one the test is skipped.
func browser(t *testing.T) context.Context {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless-shell"}
	if named := os.Getenv("FIFOPROOF_CHROMIUM"); named != "" {
		names = []string{named}
	}
	file := ""
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			file = found
			break
		}
	}
	if file == "" && os.Getenv("FIFOPROOF_CHROMIUM") != "" {
		t.Fatal("FIFOPROOF_CHROMIUM names no program: ", names[0])
	}
	if file == "" {
		t.Skip("no Chromium: install one, or name it with FIFOPROOF_CHROMIUM")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(file), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("force-color-profile", "srgb"),
	)...)
	t.Cleanup(stop)
	ctx, shut := chromedp.NewContext(ctx)
	t.Cleanup(shut)
	return ctx
}

// serve offers the report of the results at a URL.
func serve(t *testing.T, all ...*conformance.Results) string {
	t.Helper()
	var page bytes.Buffer
	require.NoError(t, report.HTML(&page, all))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r) // a favicon; the page itself asks for nothing
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(page.Bytes())
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// view is a way to look at the page.
type view struct {
	name          string
	width, height int64
	scheme, media string
	open          string // CSS selector of details to open before the picture
	at            string // CSS selector of what the picture begins with
}

func (v view) set(t *testing.T, ctx context.Context) {
	t.Helper()
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: v.media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}},
	})
	require.NoError(t, err)
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(v.width, v.height, chromedp.EmulateScale(1))))
}

func eval[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	require.NoError(t, err, expression)
	return value
}

// picture keeps a screenshot where -update was given, with at most 256 colours: a
// drawing needs no more, and the repository keeps each version of it.
func picture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	if !*update {
		return
	}
	full, err := png.Decode(bytes.NewReader(shot))
	require.NoError(t, err)
	var small bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	require.NoError(t, encoder.Encode(&small, paletted(full)))
	require.Less(t, small.Len(), 300<<10, name)
	require.NoError(t, os.MkdirAll(screenshots, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(screenshots, name+".png"), small.Bytes(), 0o644))
}

// paletted gives each pixel the nearest of the picture's commonest 256 colours.
func paletted(full image.Image) image.Image {
	counts := map[color.RGBA]int{}
	bounds := full.Bounds()
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(full.At(x, y)).(color.RGBA) }
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[at(x, y)]++
		}
	}
	out := image.NewPaletted(bounds, commonest(counts, 256))
	nearest := map[color.RGBA]uint8{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := at(x, y)
			index, known := nearest[c]
			if !known {
				index = uint8(out.Palette.Index(c))
				nearest[c] = index
			}
			out.SetColorIndex(x, y, index)
		}
	}
	return out
}

func TestReportInABrowser(t *testing.T) {
	ctx := browser(t)
	pages := map[string]string{
		"one": serve(t, presentable()), "several": serve(t, neighbours()...), "hostile": serve(t, foreign()),
		"pass": serve(t, own(110)),
	}
	// Everything must work where scripts are off; what the test itself evaluates runs.
	_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	require.NoError(t, err)
	for _, look := range []struct {
		page string
		view
	}{
		{"one", view{name: "report", width: 1280, height: 1700, scheme: "light"}},
		{"one", view{name: "report-timelines", width: 1280, height: 1500, scheme: "light", open: `details[id^="window/resend"]`, at: `details[id="window/resend/inside-late"]`}},
		{"one", view{name: "report-edge", width: 1280, height: 1200, scheme: "light", at: `figure.edge`}},
		{"one", view{name: "report-phone", width: 360, height: 1500, scheme: "light"}},
		{"one", view{name: "report-phone-timeline", width: 360, height: 1300, scheme: "dark", at: `details[id="attention/scope/group/interleaved"]`}},
		{"one", view{name: "report-dark", width: 1280, height: 1500, scheme: "dark", at: `details[id="attention/scope/group/interleaved"]`}},
		{"one", view{name: "report-print", width: 794, height: 1500, scheme: "dark", media: "print"}},
		{"hostile", view{width: 360, height: 1500, scheme: "light"}},
		{"pass", view{name: "report-pass", width: 1280, height: 1300, scheme: "light"}},
		{"several", view{name: "report-matrix", width: 1280, height: 1000, scheme: "light"}},
		{"several", view{name: "report-matrix-phone", width: 360, height: 1000, scheme: "light"}},
	} {
		look.set(t, ctx)
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(pages[look.page])))
		if look.open != "" {
			eval[int](t, ctx, fmt.Sprintf(`document.querySelectorAll(%q).forEach(d => { d.open = true; d.closest('.area').open = true }), 0`, look.open))
		}
		// No view scrolls sideways; what is wider scrolls inside itself.
		wide := eval[int](t, ctx, `document.documentElement.scrollWidth`)
		require.LessOrEqual(t, int64(wide), look.width, look.name)
		if look.at != "" {
			eval[int](t, ctx, fmt.Sprintf(`window.scrollTo(0, document.querySelector(%q).getBoundingClientRect().top + window.scrollY - 16), 0`, look.at))
		}
		if look.name != "" {
			picture(t, ctx, look.name)
		}
	}
}

// What is open everywhere must fit too: all details of all sections on a phone.
func TestEverythingOpenOnAPhone(t *testing.T) {
	ctx := browser(t)
	view{width: 360, height: 800, scheme: "light"}.set(t, ctx)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(serve(t, foreign(), own(60)))))
	eval[int](t, ctx, `document.querySelectorAll('details').forEach(d => d.open = true), 0`)
	require.LessOrEqual(t, eval[int](t, ctx, `document.documentElement.scrollWidth`), 360)
}

func TestFiltersNeedNoScript(t *testing.T) {
	ctx := browser(t)
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(1280, 900)))
	_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	require.NoError(t, err)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(serve(t, foreign()))))

	const shown = `[...document.querySelectorAll('.all .case')].filter(c => c.checkVisibility({contentVisibilityAuto: true})).map(c => c.id)`
	require.Empty(t, eval[[]string](t, ctx, shown), "areas are folded")
	click := func(class string) {
		require.NoError(t, chromedp.Do(ctx, chromedp.Click(chromedp.CSS("label:has(."+class+")"))))
	}
	click("fv-fail")
	require.Equal(t, []string{"scope/group/interleaved", "lifecycle/resend/after-delete", "receive/order/hostile"}, eval[[]string](t, ctx, shown))
	click("fl-INFO")
	require.Equal(t, []string{"receive/order/hostile"}, eval[[]string](t, ctx, shown))
	require.Equal(t, 1, eval[int](t, ctx, `[...document.querySelectorAll('.area')].filter(a => a.checkVisibility()).length`), "areas without a match are gone")
	const none = `document.querySelector('.none').checkVisibility()`
	require.False(t, eval[bool](t, ctx, none))
	click("fv-error")
	require.Empty(t, eval[[]string](t, ctx, shown))
	require.True(t, eval[bool](t, ctx, none), "an empty list says so")
	click("fv-all")
	require.Equal(t, []string{"receive/order/hostile", "deadletter/move/forgotten", "response/duplicate/message-id"}, eval[[]string](t, ctx, shown))
}

// A drawing has a name and a description for those who do not see it.
func TestDrawingsAreNamed(t *testing.T) {
	ctx := browser(t)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(serve(t, foreign(), own(30)))))
	title := eval[string](t, ctx, `document.querySelector('[id="1/scope/group/interleaved-timeline"], [id="1/attention/scope/group/interleaved-timeline-title"]').textContent`)
	require.Equal(t, "timeline of scope/group/interleaved", title)
	unnamed := eval[[]string](t, ctx, `[...document.querySelectorAll('svg[role=img]')].filter(s => s.getAttribute('aria-labelledby').split(' ').some(id => !document.getElementById(id)?.textContent)).map(s => s.outerHTML.slice(0, 200))`)
	require.Empty(t, unnamed)
	twice := eval[[]string](t, ctx, `(ids => ids.filter((id, i) => ids.indexOf(id) !== i))([...document.querySelectorAll('[id]')].map(e => e.id))`)
	require.Empty(t, twice, "an id names one thing")
	broken := eval[[]string](t, ctx, `[...document.querySelectorAll('a[href^="#"]')].map(a => decodeURIComponent(a.getAttribute('href').slice(1))).filter(id => !document.getElementById(id))`)
	require.Empty(t, broken, "each link within the page has its end")
	require.Zero(t, eval[int](t, ctx, `document.scripts.length`), "what an endpoint says stays text")
}

// commonest is a palette of at most n colours: the commonest first, and none that the
// eye could not tell from one before it, so that rare colours keep their place.
func commonest(counts map[color.RGBA]int, n int) color.Palette {
	list := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	distance := func(a, b color.RGBA) int {
		r, g, b2 := int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B)
		return r*r + g*g + b2*b2
	}
	for alike := 3; ; alike *= 2 {
		var chosen []color.RGBA
		for _, c := range list {
			if !slices.ContainsFunc(chosen, func(other color.RGBA) bool { return distance(c, other) < alike }) {
				chosen = append(chosen, c)
			}
			if len(chosen) > n {
				break
			}
		}
		if len(chosen) <= n {
			palette := make(color.Palette, len(chosen))
			for i, c := range chosen {
				palette[i] = c
			}
			return palette
		}
	}
}
