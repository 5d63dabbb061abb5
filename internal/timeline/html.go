package timeline

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"fifoproof/internal/receipt"
	"fifoproof/internal/webpage"
)

//go:embed page
var pageFiles embed.FS

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"dash": orDash}).ParseFS(pageFiles, "page/*.tmpl"))

// style is the page's style sheet, and policy what the page allows itself: that, and
// nothing from anywhere.
var style, policy = func() (template.CSS, string) {
	own, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		panic(err) // it is part of the program
	}
	sheet := webpage.Style() + template.CSS(own) //nolint:gosec // both are files of this program
	sum := sha256.Sum256([]byte(sheet))
	return sheet, "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}()

// mostUndone bounds the list of messages without an effect; the rest is only counted.
const mostUndone = 100

// HTML writes the page of receipts. left is how many others there are that it was not
// given, which it says.
func HTML(w io.Writer, receipts []receipt.Receipt, left int) error {
	var b bytes.Buffer
	if err := pageTemplate.ExecuteTemplate(&b, "page.html.tmpl", newPage(receipts, left)); err != nil {
		return fmt.Errorf("drawing the timeline: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// page is what the template shows.
type page struct {
	Policy   string
	Style    template.CSS
	Title    string
	Sentence string
	Facts    []fact
	Kinds    []kindCount
	Left     string // a sentence about what is not shown; "": nothing is left out
	Undone   []undone
	More     string // how many of Undone are not listed
	Panels   []*panel
}

type fact struct{ Name, Value string }

type kindCount struct {
	Kind    receipt.Kind
	Count   string
	Meaning string
}

// undone is a message that had no effect.
type undone struct {
	Receipt        int64 // of its last delivery
	Message, Group string
	Kind           receipt.Kind
	Attempts       int
	Received, Why  string
}

// meanings are the kinds in words, for the legend.
var meanings = map[receipt.Kind]string{
	receipt.Fresh:       "had the effect",
	receipt.Redelivered: "the same message again, no effect",
	receipt.Repeated:    "another message with its key, no effect",
	receipt.Rejected:    "will never have one",
	receipt.Failed:      "the attempt failed, and may be made again",
	receipt.Pending:     "no end on record, or put off",
}

func newPage(receipts []receipt.Receipt, left int) *page {
	receipts = clean(receipts)
	groups := tell(receipts)
	p := &page{Policy: policy, Style: style, Title: "Deliveries and attempts"}
	var counts receipt.Counts
	var s scale
	var queues, workers []string
	for _, r := range receipts {
		counts.Add(r.Kind, 1)
		s.add(r.ReceivedAt, r.Attempt.Started, r.Attempt.Ended)
		queues = append(queues, r.Queue)
		if r.Attempt.Worker != "" {
			workers = append(workers, r.Attempt.Worker)
		}
	}
	queues, workers = distinct(queues), distinct(workers)
	messages, lost := p.tally(groups)
	p.Sentence = fmt.Sprintf("%s in %s, %s: %s without an effect", plural(messages, "message"), plural(len(groups), "group"),
		plural(len(receipts), "delivery"), thousands(lost))
	if lost == 0 {
		p.Sentence = fmt.Sprintf("%s in %s, %s: all done", plural(messages, "message"), plural(len(groups), "group"), plural(len(receipts), "delivery"))
	}
	if len(receipts) == 0 {
		p.Sentence = "There are no receipts"
	} else {
		p.Facts = []fact{{"queue", some(queues)}, {"from", stamp(s.from) + " UTC"}, {"until", stamp(s.to) + " UTC, " + span(s.to.Sub(s.from)) + " later"}}
	}
	if len(workers) > 0 {
		p.Facts = append(p.Facts, fact{"workers", some(workers)})
	}
	for _, kind := range receipt.Kinds() {
		p.Kinds = append(p.Kinds, kindCount{kind, thousands(countOf(counts, kind)), meanings[kind]})
	}
	if left > 0 {
		p.Left = leftOut(messages, left)
	}
	for i, d := range cut(groups) {
		p.Panels = append(p.Panels, d.draw(i+1, len(queues) > 1))
	}
	return p
}

func leftOut(messages, left int) string {
	shown, others := "message is", plural(left, "older receipt")+" on record are"
	if messages > 1 {
		shown = plural(messages, "message") + " are"
	}
	if left == 1 {
		others = "1 older receipt on record is"
	}
	return fmt.Sprintf("Only the newest %s shown: %s left out. Select some, for instance with --group or --since, to see others.", shown, others)
}

// tally counts messages, and lists those that had no effect.
func (p *page) tally(groups []*group) (messages, lost int) {
	for _, g := range groups {
		for _, m := range g.messages {
			messages++
			if m.done() {
				continue
			}
			lost++
			if len(p.Undone) < mostUndone {
				r := m.last()
				p.Undone = append(p.Undone, undone{r.ID, r.MessageID, orDash(g.name), r.Kind, m.attempts(), stamp(r.ReceivedAt), why(r)})
			}
		}
	}
	if more := lost - len(p.Undone); more > 0 {
		p.More = plural(more, "more message")
	}
	return messages, lost
}

// describe says counts in words.
func describe(counts receipt.Counts) string {
	var parts []string
	for _, kind := range receipt.Kinds() {
		if n := countOf(counts, kind); n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", thousands(n), kind))
		}
	}
	return strings.Join(append([]string{plural(int(counts.Deliveries()), "delivery")}, parts...), ", ")
}

func countOf(c receipt.Counts, kind receipt.Kind) int {
	return int(map[receipt.Kind]int64{
		receipt.Fresh: c.Fresh, receipt.Redelivered: c.Redelivered, receipt.Repeated: c.Repeated,
		receipt.Rejected: c.Rejected, receipt.Failed: c.Failed, receipt.Pending: c.Pending,
	}[kind])
}

func distinct(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}

// some names the first few of a list.
func some(texts []string) string {
	const most = 8
	if len(texts) > most {
		return strings.Join(texts[:most], ", ") + " and " + thousands(len(texts)-most) + " more"
	}
	return strings.Join(texts, ", ")
}

func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return thousands(n) + " " + strings.TrimSuffix(noun, "y") + "ies"
	default:
		return thousands(n) + " " + noun + "s"
	}
}

func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
