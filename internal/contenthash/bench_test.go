package contenthash

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"
)

// The order of the benchmark is what a Go service marshals: fields in the order
// of the struct, 18-digit ids as numbers, prices, names outside ASCII.
type (
	order struct {
		ID       int64     `json:"id"`
		Type     string    `json:"type"`
		Version  int       `json:"version"`
		Created  string    `json:"created_at"`
		Customer customer  `json:"customer"`
		Currency string    `json:"currency"`
		Items    []item    `json:"items"`
		Shipping address   `json:"shipping"`
		Total    float64   `json:"total"`
		Tax      float64   `json:"tax"`
		Paid     bool      `json:"paid"`
		Coupon   *string   `json:"coupon"`
		Tags     []string  `json:"tags"`
		Payments []payment `json:"payments"`
	}
	customer struct {
		ID      int64  `json:"id"`
		Name    string `json:"name"`
		Email   string `json:"email"`
		Segment string `json:"segment"`
		VIP     bool   `json:"vip"`
	}
	item struct {
		LineID   int64   `json:"line_id"`
		SKU      string  `json:"sku"`
		Title    string  `json:"title"`
		Quantity int     `json:"quantity"`
		Price    float64 `json:"price"`
		Discount float64 `json:"discount"`
		Gift     bool    `json:"gift"`
	}
	address struct {
		Street  string `json:"street"`
		City    string `json:"city"`
		Zip     string `json:"zip"`
		Country string `json:"country"`
	}
	payment struct {
		Method string  `json:"method"`
		Amount float64 `json:"amount"`
		At     string  `json:"at"`
		Ref    string  `json:"reference"`
	}
)

// orderBody is a compact order of about the given size, in struct order.
func orderBody(tb testing.TB, size int) []byte {
	tb.Helper()
	titles := []string{"Kaffeemühle „Größe M“", "Crème brûlée Set", "\u62b9\u8336\u8336\u7897", "Löffel, 6 Stück", "Книга рецептов", "Plain steel pan"}
	o := order{
		ID: 730123456789012345, Type: "order.placed", Version: 3, Created: "2026-11-29T09:15:27.123Z",
		Customer: customer{ID: 481516234201234567, Name: "Jürgen Weiß-Núñez", Email: "j.weiss@example.com", Segment: "returning", VIP: true},
		Currency: "EUR",
		Shipping: address{Street: "Königsallee 27", City: "Düsseldorf", Zip: "40212", Country: "DE"},
		Total:    1289.95, Tax: 205.96, Paid: true, Tags: []string{"web", "autumn", "größe-xl"},
		Payments: []payment{{Method: "card", Amount: 1289.95, At: "2026-11-29T09:15:30.004Z", Ref: "pay_8f14e45fceea167a"}},
	}
	for i := 0; ; i++ {
		body, err := json.Marshal(o)
		require.NoError(tb, err)
		if len(body) >= size {
			return body
		}
		o.Items = append(o.Items, item{
			LineID: 602214076000000000 + int64(i)*7919, SKU: fmt.Sprintf("SKU-%05d", 90210+i*13), Title: titles[i%len(titles)],
			Quantity: 1 + i%4, Price: float64(1999+i*1050) / 100, Discount: float64(i%3*125) / 100, Gift: i%5 == 0,
		})
	}
}

// beside runs contestants in turn with plain SHA-256 of the same bytes, so that
// noise of the machine hits both, and reports the least time of each as a
// multiple of the least time of SHA-256.
func beside(b *testing.B, body []byte, f func()) {
	b.Helper()
	b.ReportAllocs()
	// Many short passes, so that some of both meet a quiet moment.
	const atLeast, spend = 40, time.Second
	rounds := max(1, 20_000/len(body))
	best := func(least time.Duration, f func()) time.Duration {
		start := time.Now()
		for range rounds {
			f()
		}
		return min(least, time.Since(start))
	}
	var sum [sha256.Size]byte
	sha, own := time.Duration(1<<62), time.Duration(1<<62)
	for pass, start := 0, time.Now(); pass < atLeast || time.Since(start) < spend; pass++ {
		sha = best(sha, func() { sum = sha256.Sum256(body) })
		own = best(own, f)
	}
	b.ResetTimer()
	for b.Loop() {
		f()
	}
	_ = sum
	b.ReportMetric(float64(own)/float64(sha), "x-sha256")
	b.ReportMetric(float64(len(body))*float64(rounds)/own.Seconds()/1e6, "MB/s-best")
}

func BenchmarkSum(b *testing.B) {
	h, err := New(Options{})
	require.NoError(b, err)
	for _, size := range []struct {
		name  string
		bytes int
	}{{"2KiB", 2048}, {"64KiB", 64 << 10}, {"1MiB", 1 << 20}} {
		compact := orderBody(b, size.bytes)
		canonical, err := h.Canonical(nil, compact)
		require.NoError(b, err)
		var indented bytes.Buffer
		require.NoError(b, json.Indent(&indented, compact, "", "  "))
		for _, input := range []struct {
			name string
			body []byte
		}{{"struct", compact}, {"canonical", canonical}, {"indented", indented.Bytes()}} {
			b.Run(input.name+"/"+size.name, func(b *testing.B) {
				beside(b, input.body, func() {
					if _, err := h.Sum(input.body, ""); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
}

func BenchmarkOthers(b *testing.B) {
	body := orderBody(b, 2048)
	b.Run("jsontext", func(b *testing.B) {
		beside(b, body, func() {
			v := jsontext.Value(bytes.Clone(body))
			if err := v.Canonicalize(); err != nil {
				b.Fatal(err)
			}
			_ = sha256.Sum256(v)
		})
	})
	b.Run("gowebpki", func(b *testing.B) {
		beside(b, body, func() {
			v, err := jcs.Transform(body)
			if err != nil {
				b.Fatal(err)
			}
			_ = sha256.Sum256(v)
		})
	})
}
