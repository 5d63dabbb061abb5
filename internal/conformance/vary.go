package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// change is a way to alter a field.
type change string

const (
	changed change = "changed"
	added   change = "added"
	removed change = "removed"
)

// variant is the body with one field altered.
type variant struct {
	field  int // index of the Field
	change change
	body   string // on one line
}

// place leads to a value: member names and array indexes.
type place []any

// vary makes all variants of a body, which is valid JSON without duplicate names.
func vary(body []byte) ([]variant, []Field, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var root any
	if err := decoder.Decode(&root); err != nil {
		return nil, nil, fmt.Errorf("reading the body: %w", err)
	}
	v := varier{root: root}
	if err := v.walk(nil, root); err != nil {
		return nil, nil, err
	}
	return v.variants, v.fields, nil
}

type varier struct {
	root     any
	variants []variant
	fields   []Field
}

// walk adds the variants of the value at p and of all values below it.
func (v *varier) walk(p place, value any) error {
	v.fields = append(v.fields, Field{
		Pointer: p.pointer(), Kind: kindOf(value),
		Changed: NotApplicable, Added: NotApplicable, Removed: NotApplicable,
	})
	field := len(v.fields) - 1
	if len(p) > 0 {
		if err := v.add(field, removed, without(v.root, p)); err != nil {
			return err
		}
	}
	switch value := value.(type) {
	case map[string]any:
		more := maps.Clone(value)
		more[freshName(value)] = true
		if err := v.add(field, added, with(v.root, p, more)); err != nil {
			return err
		}
		for _, member := range slices.Sorted(maps.Keys(value)) {
			if err := v.walk(p.to(member), value[member]); err != nil {
				return err
			}
		}
	case []any:
		if err := v.add(field, added, with(v.root, p, append(slices.Clone(value), true))); err != nil {
			return err
		}
		for i, element := range value {
			if err := v.walk(p.to(i), element); err != nil {
				return err
			}
		}
	default:
		return v.add(field, changed, with(v.root, p, other(value)))
	}
	return nil
}

func (v *varier) add(field int, c change, root any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(root); err != nil {
		return fmt.Errorf("writing the body with %s %s: %w", name(v.fields[field].Pointer), c, err)
	}
	v.variants = append(v.variants, variant{field: field, change: c, body: strings.TrimSuffix(line.String(), "\n")})
	return nil
}

// other is a value of the same kind that differs.
func other(value any) any {
	switch value := value.(type) {
	case string:
		return value + "~"
	case bool:
		return !value
	case json.Number:
		// Zero is exact in every mode; a body may hold a number that a double cannot.
		mantissa, _, _ := strings.Cut(strings.ToLower(value.String()), "e")
		if strings.ContainsAny(mantissa, "123456789") {
			return json.Number("0")
		}
		return json.Number("1")
	}
	return false // for null, which has no other value
}

// with is a copy of root in which the value at p is replaced.
func with(root any, p place, value any) any {
	if len(p) == 0 {
		return value
	}
	switch root := root.(type) {
	case map[string]any:
		copied, member := maps.Clone(root), p[0].(string)
		copied[member] = with(root[member], p[1:], value)
		return copied
	case []any:
		copied, i := slices.Clone(root), p[0].(int)
		copied[i] = with(root[i], p[1:], value)
		return copied
	}
	return root
}

// without is a copy of root in which the value at p is missing.
func without(root any, p place) any {
	switch root := root.(type) {
	case map[string]any:
		copied, member := maps.Clone(root), p[0].(string)
		if len(p) == 1 {
			delete(copied, member)
		} else {
			copied[member] = without(root[member], p[1:])
		}
		return copied
	case []any:
		copied, i := slices.Clone(root), p[0].(int)
		if len(p) == 1 {
			return slices.Delete(copied, i, i+1)
		}
		copied[i] = without(root[i], p[1:])
		return copied
	}
	return root
}

func (p place) to(step any) place { return append(slices.Clip(p), step) }

// pointer writes p as a JSON pointer (RFC 6901, section 3).
func (p place) pointer() string {
	var b strings.Builder
	for _, step := range p {
		b.WriteByte('/')
		switch step := step.(type) {
		case int:
			b.WriteString(strconv.Itoa(step))
		case string:
			b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(step))
		}
	}
	return b.String()
}

// freshName is a member name that the object does not have.
func freshName(object map[string]any) string {
	fresh := "added"
	for {
		if _, taken := object[fresh]; !taken {
			return fresh
		}
		fresh += "_"
	}
}

func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	}
	return "null"
}
