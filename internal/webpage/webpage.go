package webpage

import (
	_ "embed"
	"html/template"
)

//go:embed base.css
var style string

// Style is the style sheet that every page's own begins with.
func Style() template.CSS { return template.CSS(style) } //nolint:gosec // it is a file of this package
