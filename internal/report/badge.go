package report

import (
	"fmt"
	"html/template"
	"io"

	"fifoproof/internal/conformance"
)

// badgeLabel is the left half of the badge.
const badgeLabel = "sqs fifo dedup"

// shield is a badge as the endpoint schema of shields.io has it.
type shield struct {
	SchemaVersion int    `json:"schemaVersion"`
	Label         string `json:"label"`
	Message       string `json:"message"`
	Color         string `json:"color"`
	IsError       bool   `json:"isError,omitempty"`
}

// badge says the gravest thing of a run in two words.
func badge(results *conformance.Results) shield {
	counted := map[conformance.Weight]int{}
	for _, r := range results.Cases {
		counted[results.Policy.Weigh(r)]++
	}
	const alarm = "red"
	b := shield{SchemaVersion: 1, Label: badgeLabel}
	switch {
	case counted[conformance.CountsFailed] > 0:
		b.Message, b.Color, b.IsError = fmt.Sprintf("%d fail", counted[conformance.CountsFailed]), alarm, true
	case len(results.Stale) > 0:
		b.Message, b.Color, b.IsError = "known list out of date", alarm, true
	case counted[conformance.CountsErrored] > 0:
		b.Message, b.Color, b.IsError = fmt.Sprintf("%d error", counted[conformance.CountsErrored]), "lightgrey", true
	case counted[conformance.CountsOpen] > 0:
		b.Message, b.Color = fmt.Sprintf("%d inconclusive", counted[conformance.CountsOpen]), "yellow"
	case results.Summary.Known > 0:
		b.Message, b.Color = fmt.Sprintf("%d pass, %d known", results.Summary.Pass, results.Summary.Known), "yellowgreen"
	default:
		b.Message, b.Color = fmt.Sprintf("%d pass", results.Summary.Pass), "brightgreen"
	}
	return b
}

// BadgeJSON writes the badge in the endpoint schema of shields.io, version 1.
func BadgeJSON(w io.Writer, results *conformance.Results) error { return encode(w, badge(results)) }

// badgeSVG draws both halves; textLength keeps the text inside its half whatever font
// the reader has.
var badgeSVG = template.Must(template.New("badge").Parse(`<svg xmlns="http://www.w3.org/2000/svg" width="{{.Width}}" height="20" role="img" aria-label="{{.Label}}: {{.Message}}">
<title>{{.Label}}: {{.Message}}</title>
<clipPath id="r"><rect width="{{.Width}}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="{{.Left}}" height="20" fill="#444c56"/><rect x="{{.Left}}" width="{{.Right}}" height="20" fill="{{.Fill}}"/></g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="7" y="14" textLength="{{.LabelLength}}">{{.Label}}</text>
<text x="{{.MessageX}}" y="14" textLength="{{.MessageLength}}">{{.Message}}</text>
</g>
</svg>
`))

// BadgeSVG writes the badge as a picture that needs no service.
func BadgeSVG(w io.Writer, results *conformance.Results) error {
	b := badge(results)
	const letter, margin = 6.6, 7 // mean width of Verdana at 11 px
	length := func(text string) int { return int(letter*float64(len([]rune(text))) + 0.5) }
	left, right := length(b.Label)+2*margin, length(b.Message)+2*margin
	// Dark enough for white text (contrast 4.5 to 1 and more).
	fill := map[string]string{"red": "#b62324", "lightgrey": "#6e7781", "yellow": "#8a6100", "yellowgreen": "#5d7a00", "brightgreen": "#1a7f37"}[b.Color]
	return badgeSVG.Execute(w, map[string]any{
		"Label": b.Label, "Message": b.Message, "Fill": fill, "Width": left + right, "Left": left, "Right": right,
		"LabelLength": length(b.Label), "MessageX": left + margin, "MessageLength": length(b.Message),
	})
}
