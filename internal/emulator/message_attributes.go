package emulator

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"strings"
)

const (
	attributeLimit     = 10  // attributes of a message
	attributeNameLimit = 256 // characters of a name or a type

	sysTraceHeader = "AWSTraceHeader"
)

// attributeValue is the value of a message attribute.
type attributeValue struct {
	BinaryListValues [][]byte `json:",omitempty"`
	BinaryValue      []byte   `json:",omitempty"`
	DataType         *string
	StringListValues []string `json:",omitempty"`
	StringValue      *string  `json:",omitempty"`
}

func (v *attributeValue) size() int {
	n := len(v.BinaryValue)
	if v.DataType != nil {
		n += len(*v.DataType)
	}
	if v.StringValue != nil {
		n += len(*v.StringValue)
	}
	return n
}

var (
	attributeName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,256}$`)
	numeric       = regexp.MustCompile(`^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\s*$`)
)

// checkMessageAttributes holds a message's attributes to the developer guide's
// "message metadata" page.
func checkMessageAttributes(attributes map[string]attributeValue) *apiError {
	if len(attributes) > attributeLimit {
		return invalidParameter("Number of message attributes [%d] exceeds the allowed maximum [%d].", len(attributes), attributeLimit)
	}
	for _, name := range sortedKeys(attributes) {
		if err := checkAttributeName(name); err != nil {
			return err
		}
		value := attributes[name]
		if err := value.check("Message attribute", name); err != nil {
			return err
		}
	}
	return nil
}

func checkAttributeName(name string) *apiError {
	lower := strings.ToLower(name)
	switch {
	case !attributeName.MatchString(name):
		return invalidParameter("Message attribute name '%s' is invalid: 1 to 256 of A-Z, a-z, 0-9, underscore, hyphen and period.", quoted(name))
	case strings.HasPrefix(name, "."), strings.HasSuffix(name, "."), strings.Contains(name, ".."):
		return invalidParameter("Message attribute name '%s' can't start or end with a period or have successive periods.", quoted(name))
	case strings.HasPrefix(lower, "aws."), strings.HasPrefix(lower, "amazon."):
		return invalidParameter("Message attribute name '%s' can't start with a reserved prefix: AWS. or Amazon.", quoted(name))
	}
	return nil
}

func (v *attributeValue) check(kind, name string) *apiError {
	if len(v.StringListValues) > 0 || len(v.BinaryListValues) > 0 {
		return invalidParameter("%s '%s' has list values, which are not supported.", kind, name)
	}
	if v.DataType == nil || *v.DataType == "" {
		return invalidParameter("%s '%s' must contain a non-empty type.", kind, name)
	}
	base, custom, isCustom := strings.Cut(*v.DataType, ".")
	if len(*v.DataType) > attributeNameLimit || isCustom && custom == "" {
		return invalidParameter("%s '%s' has an invalid type.", kind, name)
	}
	if err := checkText(*v.DataType); err != nil {
		return err
	}
	switch base {
	case "String", "Number":
		switch {
		case v.StringValue == nil || *v.StringValue == "":
			return invalidParameter("%s '%s' must contain a non-empty value of type String.", kind, name)
		case len(v.BinaryValue) > 0:
			return invalidParameter("%s '%s' has more than one value.", kind, name)
		case base == "Number" && !numeric.MatchString(*v.StringValue):
			return invalidParameter("Can't cast the value of %s '%s' to a number.", strings.ToLower(kind), name)
		}
		return checkText(*v.StringValue)
	case "Binary":
		switch {
		case len(v.BinaryValue) == 0:
			return invalidParameter("%s '%s' must contain a non-empty value of type Binary.", kind, name)
		case v.StringValue != nil && *v.StringValue != "":
			return invalidParameter("%s '%s' has more than one value.", kind, name)
		}
		return nil
	}
	return invalidParameter("%s '%s' has an invalid type: it must be String, Number or Binary, with an optional custom part.", kind, name)
}

// checkSystemAttributes lets the one attribute pass that can be sent.
func checkSystemAttributes(attributes map[string]attributeValue) *apiError {
	for _, name := range sortedKeys(attributes) {
		value := attributes[name]
		if name != sysTraceHeader {
			return invalidParameter("Message system attribute name '%s' is invalid.", quoted(name))
		}
		if err := value.check("Message system attribute", name); err != nil {
			return err
		}
		if *value.DataType != "String" {
			return invalidParameter("Message system attribute '%s' must be of type String.", name)
		}
	}
	return nil
}

// md5OfAttributes is the digest over attributes, "" for none: sorted by name, and
// of each the length and bytes of name and type, a byte for the transport type (1
// string or number, 2 binary), and the length and bytes of the value (developer
// guide, "calculating the MD5 message digest for message attributes").
func md5OfAttributes(attributes map[string]attributeValue) string {
	if len(attributes) == 0 {
		return ""
	}
	var text []byte
	put := func(part string) {
		text = binary.BigEndian.AppendUint32(text, uint32(len(part)))
		text = append(text, part...)
	}
	for _, name := range sortedKeys(attributes) {
		value := attributes[name]
		put(name)
		put(*value.DataType)
		if strings.HasPrefix(*value.DataType, "Binary") {
			text = append(text, 2)
			put(string(value.BinaryValue))
		} else {
			text = append(text, 1)
			put(*value.StringValue)
		}
	}
	sum := md5.Sum(text)
	return hex.EncodeToString(sum[:])
}

// chosen are the attributes that names ask for: a name itself, All or .* for all
// of them, prefix.* for those that start with prefix.
func chosen(attributes map[string]attributeValue, names []string) map[string]attributeValue {
	out := map[string]attributeValue{}
	for name, value := range attributes {
		for _, asked := range names {
			prefix, isPrefix := strings.CutSuffix(asked, ".*")
			if asked == "All" || asked == name || isPrefix && strings.HasPrefix(name, prefix) {
				out[name] = value
				break
			}
		}
	}
	return out
}
