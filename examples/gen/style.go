package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// value is a JSON value that can be spelled in several ways.
type value interface{ isValue() }

type (
	member struct {
		name  string
		value value
	}
	object  []member
	array   []value
	text    string
	number  struct{ usual, odd string } // two spellings of one number
	boolean bool
	null    struct{}
)

func (object) isValue()  {}
func (array) isValue()   {}
func (text) isValue()    {}
func (number) isValue()  {}
func (boolean) isValue() {}
func (null) isValue()    {}

// style is a way to spell a value. None changes what it means.
type style struct {
	reversed bool   // members from the last to the first
	comma    string // with the white space around it
	colon    string
	escaped  bool // every character outside ASCII, and the slash, as an escape
	odd      bool // numbers in their other spelling
}

// asSent is what the shop's own service writes.
var asSent = style{comma: ",", colon: ":"}

// respelled are the ways in which others write the same.
var respelled = []style{
	{comma: ",", colon: ":", reversed: true},
	{comma: ", ", colon: ": "},
	{comma: ", ", colon: ": ", escaped: true}, // as Python's json.dumps
	{comma: ",", colon: ":", odd: true},
	{comma: " ,\t", colon: " : ", reversed: true, escaped: true, odd: true},
}

func (s style) print(v value) string {
	switch v := v.(type) {
	case object:
		members := slices.Clone(v)
		if s.reversed {
			slices.Reverse(members)
		}
		var parts []string
		for _, m := range members {
			parts = append(parts, s.quote(m.name)+s.colon+s.print(m.value))
		}
		return "{" + strings.Join(parts, s.comma) + "}"
	case array:
		var parts []string
		for _, element := range v {
			parts = append(parts, s.print(element))
		}
		return "[" + strings.Join(parts, s.comma) + "]"
	case text:
		return s.quote(string(v))
	case number:
		if s.odd {
			return v.odd
		}
		return v.usual
	case boolean:
		return strconv.FormatBool(bool(v))
	default:
		return "null"
	}
}

func (s style) quote(t string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range t {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case s.escaped && r == '/':
			b.WriteString(`\/`)
		case s.escaped && r > 0x7E:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
