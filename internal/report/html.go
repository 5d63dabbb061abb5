package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"

	"fifoproof/internal/conformance"
	"fifoproof/internal/webpage"
)

//go:embed page
var pageFiles embed.FS

// pageTemplate is the whole report: the page, its style sheet and its drawings are all
// templates, so that everything that an endpoint had a say in is escaped by one rule.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"base": webpage.Style, "sign": sign, "capital": capital, "parts": func(id string) []string { return strings.Split(id, "/") }, "link": func(anchor string) string { return "#" + anchor },
}).ParseFS(pageFiles, "page/*.tmpl"))

// HTML writes the report of one run, or of several: then their matrix comes first and
// each run has a section. It is one file that needs nothing else: no script, no font,
// no network.
func HTML(w io.Writer, all []*conformance.Results) error {
	p := page{Title: "What SQS endpoints do with duplicates", Verdicts: verdicts, Levels: levels}
	for i, results := range all {
		p.Runs = append(p.Runs, newRun(results, i, len(all) > 1))
	}
	if len(all) == 1 {
		p.Title = "SQS FIFO deduplication: " + strings.TrimSpace(product(all[0].Target)+" "+all[0].Target.Version)
	}
	if len(all) > 1 {
		p.Matrix = newMatrix(all, p.Runs)
	}
	var b bytes.Buffer
	if err := pageTemplate.ExecuteTemplate(&b, "page.html.tmpl", p); err != nil {
		return fmt.Errorf("drawing the report: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// page is what the page template shows.
type page struct {
	Title    string
	Verdicts []conformance.Verdict
	Levels   []conformance.Level
	Matrix   *matrixPart
	Runs     []*run
}

type matrixPart struct {
	Heads []matrixHead
	Areas []matrixArea
}

type matrixHead struct{ Name, Version, Anchor, Sentence, Edge string }

type matrixArea struct {
	Name string
	Rows []matrixRow
}

type matrixRow struct {
	ID    string
	Level conformance.Level
	Cells []matrixCell
}

type matrixCell struct {
	Word, Anchor, Seen string
	Verdict            conformance.Verdict
}

func newMatrix(all []*conformance.Results, runs []*run) *matrixPart {
	m := &matrixPart{}
	for i, results := range all {
		sentence, _ := conclusion(results)
		m.Heads = append(m.Heads, matrixHead{
			Name: product(results.Target), Version: results.Target.Version, Anchor: runs[i].Anchor, Sentence: sentence,
			Edge: strings.Join(edgeLines(results.Cases), "; "),
		})
	}
	for _, row := range rows(all) {
		if n := len(m.Areas); n == 0 || m.Areas[n-1].Name != areaOf(row.id) {
			m.Areas = append(m.Areas, matrixArea{Name: areaOf(row.id)})
		}
		line := matrixRow{ID: row.id, Level: row.level}
		for i, r := range row.results {
			c := matrixCell{Word: cell(r)}
			if r != nil {
				c.Verdict, c.Anchor, c.Seen = r.Verdict, runs[i].anchor(r.ID), r.Seen
			}
			line.Cells = append(line.Cells, c)
		}
		area := &m.Areas[len(m.Areas)-1]
		area.Rows = append(area.Rows, line)
	}
	return m
}

// run is what the page shows of one run.
type run struct {
	Anchor, prefix string
	Name           string
	Sentence       string
	Amounts        conformance.Verdict
	Facts          []fact
	Bar            []segment
	BarText        string
	Capabilities   []capability
	Attention      []*caseView
	Known          []*caseView
	Different      []*caseView
	Edges          []*edgePicture
	Fields         []fieldsPart
	Areas          []areaPart
	NotRun         []leftOut
	NotRunWhy      bool // whether any of them has a reason of its own
	Stale          []string
	How            []fact
	Verdicts       []choice
	Levels         []choice
}

type fact struct {
	Name, Value string
	Code        bool
}

// segment is a stretch of the bar of verdicts.
type segment struct {
	Verdict conformance.Verdict
	Count   int
}

// choice is a filter: a word and how many cases have it.
type choice struct {
	Word  string
	Sign  string
	Count int
}

type capability struct {
	Name, Text, How string
	ID              conformance.Capability
	Missing         bool
}

type fieldsPart struct {
	Case   string
	Fields []conformance.Field
}

type areaPart struct {
	Name   string
	Counts []segment
	Cases  []*caseView
	Open   bool
}

// caseView is a result with what the page adds to it.
type caseView struct {
	conformance.Result

	Anchor   string
	Above    string // anchor of the place where its timeline is drawn already
	Word     string // the verdict, with what qualifies it
	Again    string
	Timeline *timeline
	Edge     *edgePicture
	Open     bool
}

// Class has the words by which the page's style and its filters know a case.
func (c *caseView) Class() string { return fmt.Sprintf("v-%s l-%s", c.Verdict, c.Level) }

// anchor is where a case stands on the page.
func (r *run) anchor(id string) string {
	return r.prefix + strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("/-_.", c) {
			return c
		}
		return '-'
	}, id)
}

// capabilities are those that a run asks for first, in words.
var capabilities = []capability{
	{ID: conformance.FIFO, Name: "FIFO queues", Text: "queues whose names end in .fifo"},
	{ID: conformance.Scope, Name: "deduplication scope", Text: "DeduplicationScope and FifoThroughputLimit"},
	{ID: conformance.Redrive, Name: "dead-letter queues", Text: "RedrivePolicy"},
	{ID: conformance.MoveTask, Name: "message move tasks", Text: "StartMessageMoveTask and its kin"},
	{ID: conformance.Query, Name: "query protocol", Text: "beside AWS JSON 1.0"},
}

// mostOpen is how many failures stand open; with more, a reader looks for one.
const mostOpen = 10

func newRun(results *conformance.Results, index int, several bool) *run {
	r := &run{Anchor: "run", Name: strings.TrimSpace(product(results.Target) + " " + results.Target.Version), Stale: results.Stale}
	r.NotRun, r.NotRunWhy = leftOuts(results)
	if several {
		r.prefix = fmt.Sprintf("%d/", index+1)
		r.Anchor = fmt.Sprintf("run-%d", index+1)
	}
	r.Sentence, r.Amounts = conclusion(results)
	r.Facts, r.How = facts(results), how(results)
	counts := tallyOf(results.Cases)
	r.BarText = counts.words(", ")
	r.Verdicts = append(r.Verdicts, choice{Word: "all", Count: len(results.Cases)})
	for _, v := range verdicts {
		if counts[v] > 0 {
			r.Bar = append(r.Bar, segment{v, counts[v]})
			r.Verdicts = append(r.Verdicts, choice{string(v), sign(v), counts[v]})
		}
	}
	byLevel := map[conformance.Level]int{}
	for _, c := range results.Cases {
		byLevel[c.Level]++
	}
	r.Levels = append(r.Levels, choice{Word: "all", Count: len(results.Cases)})
	for _, level := range levels {
		r.Levels = append(r.Levels, choice{Word: string(level), Count: byLevel[level]})
	}
	for _, c := range capabilities {
		c.How, c.Missing = results.Target.Missing[c.ID], false
		if _, missing := results.Target.Missing[c.ID]; missing {
			c.Missing = true
		}
		r.Capabilities = append(r.Capabilities, c)
	}
	r.cases(results)
	return r
}

// cases fills in everything that is said of cases, each timeline once.
func (r *run) cases(results *conformance.Results) {
	above := map[string]string{}
	for i, c := range attention(results) {
		view := r.view(results, c, "attention/")
		view.Open = i < mostOpen
		if view.Timeline != nil {
			above[c.ID] = view.Anchor
		}
		r.Attention = append(r.Attention, view)
	}
	exact := results.Target.Clock == virtual
	for i, c := range measured(results.Cases) {
		r.Edges = append(r.Edges, newEdge(fmt.Sprintf("%sedge-%d", r.prefix, i+1), c, exact))
	}
	for _, a := range areas(results.Cases) {
		part := areaPart{Name: a.name}
		for _, v := range verdicts {
			if a.tally[v] > 0 {
				part.Counts = append(part.Counts, segment{v, a.tally[v]})
			}
		}
		for _, c := range a.cases {
			view := r.view(results, c, "")
			if at := above[c.ID]; at != "" {
				view.Above, view.Timeline = at, nil
			}
			switch {
			case c.Known != nil:
				r.Known = append(r.Known, view)
			case differs(c):
				r.Different = append(r.Different, view)
			}
			if len(c.Fields) > 0 {
				r.Fields = append(r.Fields, fieldsPart{c.ID, c.Fields})
			}
			part.Cases = append(part.Cases, view)
		}
		r.Areas = append(r.Areas, part)
	}
}

// view makes what the page shows of a case; place tells it from the same case elsewhere.
func (r *run) view(results *conformance.Results, c conformance.Result, place string) *caseView {
	anchor := r.anchor(place + c.ID)
	return &caseView{
		Result: c, Anchor: anchor, Word: cell(&c), Again: repeat(results, c),
		Timeline: newTimeline(anchor+"-timeline", c),
	}
}

// facts are what was tested, for the top of the page.
func facts(results *conformance.Results) []fact {
	t, s := results.Target, results.Summary
	list := []fact{{Name: "target", Value: place(t), Code: true}}
	if p := strings.TrimSpace(product(t) + " " + t.Version); p != t.Name {
		list = append(list, fact{Name: "product", Value: p})
	}
	if t.Server != "" {
		list = append(list, fact{Name: "server", Value: t.Server})
	}
	list = append(list,
		fact{Name: "when", Value: results.Started.UTC().Format("2 January 2006, 15:04 UTC")},
		fact{Name: "took", Value: took(s, t.Clock)},
		fact{Name: "profile", Value: orDash(string(results.Profile))},
		fact{Name: "what counts", Value: policy(results.Policy)},
		fact{Name: program, Value: results.Version + ", run " + results.Run},
	)
	return list
}

func took(s conformance.Summary, clock string) string {
	text := Duration(seconds(s.Seconds))
	if clock == virtual {
		text += ", in which " + Duration(seconds(s.QueueTime)) + " passed on a virtual clock"
	}
	return text
}

// policy says in words what turns a run red.
func policy(p conformance.Policy) string {
	parts := []string{"a MUST that is not met"}
	if p.Strict {
		parts[0] = "a MUST or SHOULD that is not met"
	}
	if p.Inconclusive != conformance.Warn {
		parts = append(parts, "an open question")
	}
	text := join(parts)
	if len(p.AllowSkip) > 0 {
		text += "; may be skipped: " + strings.Join(p.AllowSkip, ", ")
	}
	return text
}

// how says how the run was made, for the end of the page.
func how(results *conformance.Results) []fact {
	t, s := results.Target, results.Summary
	clock := "real: it was waited for"
	if t.Clock == virtual {
		clock = "virtual: time was moved by hand, so instants are exact"
	}
	list := []fact{
		{Name: "again", Value: command(results, profiled(results)...), Code: true},
		{Name: "clock", Value: clock},
	}
	switch {
	case t.Queue != "":
		list = append(list, fact{Name: "traffic", Value: plural(s.Calls, "call") + " to the one queue that was given"})
	case s.Calls > 0 || s.Queues > 0:
		list = append(list, fact{Name: "traffic", Value: plural(s.Calls, "call") + " to " + plural(s.Queues, "queue") + " of its own"})
	}
	premises, tries := 0, 0
	for _, c := range results.Cases {
		if c.Premise {
			premises++
		}
		if c.Tries > 1 {
			tries++
		}
	}
	if premises > 0 {
		list = append(list, fact{Name: "premises", Value: plural(premises, "case") + " ran only because others build on them"})
	}
	if tries > 0 {
		list = append(list, fact{Name: "repeated", Value: plural(tries, "case") + " repeated themselves with another gap"})
	}
	return append(list, fact{Name: "exit code", Value: strconv.Itoa(s.Exit)})
}
