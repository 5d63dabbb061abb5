package main

import (
	"fmt"
	"image/color"
	"io"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The colours are told apart by most eyes (Okabe and Ito): vermilion without jitter,
// blue with it.
var (
	hard = color.RGBA{R: 213, G: 94, B: 0, A: 255}
	soft = color.RGBA{R: 0, G: 114, B: 178, A: 255}
)

// writePicture writes the histograms as SVG: the first setting without jitter, then
// all settings with it. The heights of all are on one scale.
func writePicture(w io.Writer) error {
	all := settings()
	panels := [][]*plot.Plot{{panel(all[0].steady(), "no jitter: "+all[0].name, hard), panel(all[0], "full jitter: "+all[0].name, soft)}}
	panels = append(panels, []*plot.Plot{panel(all[1], "full jitter: "+all[1].name, soft), panel(all[2], "full jitter: "+all[2].name, soft)})

	canvas := vgsvg.New(27*vg.Centimeter, 15*vg.Centimeter)
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Path())
	tiles := draw.Tiles{Rows: 2, Cols: 2, PadX: vg.Centimeter, PadY: vg.Centimeter, PadTop: 8, PadBottom: 8, PadLeft: 8, PadRight: 12}
	for i, canvases := range plot.Align(panels, tiles, whole) {
		for j, part := range canvases {
			panels[i][j].Draw(part)
		}
	}
	if _, err := canvas.WriteTo(w); err != nil {
		return fmt.Errorf("writing the picture: %w", err)
	}
	return nil
}

// panel is the histogram of one setting.
func panel(s setting, title string, fill color.Color) *plot.Plot {
	calls := s.calls(shown)
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s\nat most %d calls in %s", title, peak(calls), millis(bin))
	p.X.Label.Text = "seconds after all clients failed"
	p.Y.Label.Text = "calls in " + millis(bin)
	p.X.Min, p.X.Max = 0, (s.longest() + s.longest()/50).Seconds()
	p.Y.Min, p.Y.Max = 0, clients
	p.Add(columns{histogram(calls), fill})
	return p
}

// columns draws a histogram as one path, which keeps the file small.
type columns struct {
	counts []int
	fill   color.Color
}

// narrowest is how wide a column is at least: a bin of 100 ms in three minutes would
// be hard to see.
const narrowest = vg.Length(1.2)

// Plot draws the columns that are not empty.
func (c columns) Plot(canvas draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&canvas)
	var path vg.Path
	for i, count := range c.counts {
		if count == 0 {
			continue
		}
		from := time.Duration(i) * bin
		left, top := x(from.Seconds()), y(float64(count))
		right := max(x((from + bin).Seconds()), left+narrowest)
		path.Move(vg.Point{X: left, Y: y(0)})
		path.Line(vg.Point{X: left, Y: top})
		path.Line(vg.Point{X: right, Y: top})
		path.Line(vg.Point{X: right, Y: y(0)})
		path.Close()
	}
	canvas.SetColor(c.fill)
	canvas.Fill(path)
}
