package handler

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Amount counts billionths (10^-9) of whatever unit the events are in: whole
// numbers, so that sums are exact. It reaches to 9,223,372,036.854775807 on either
// side of zero.
type Amount int64

// Decimals is how many digits an amount has behind the point.
const Decimals = 9

// decimal is a number of JSON (RFC 8259, section 6): sign, whole, fraction, exponent.
var decimal = regexp.MustCompile(`^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$`)

// ParseAmount reads a decimal number as JSON spells it, as 12.34, -0.5 or 1e3. It
// refuses what it cannot hold exactly; nothing is ever rounded.
func ParseAmount(text string) (Amount, error) {
	part := decimal.FindStringSubmatch(text)
	if part == nil {
		return 0, errors.New("is no decimal number")
	}
	digits := strings.TrimLeft(part[2]+part[3], "0")
	if digits == "" {
		return 0, nil
	}
	exponent := 0
	if part[4] != "" {
		var err error
		if exponent, err = strconv.Atoi(part[4]); err != nil {
			return 0, errors.New("has an exponent that is out of range")
		}
	}
	significant := strings.TrimRight(digits, "0")
	// The number is significant * 10^zeros billionths. The exponent is bounded by an
	// int, and a text by what SQS takes, so the sum stays far from an overflow where
	// the exponent is not absurd itself.
	if exponent > 1<<30 || exponent < -1<<30 {
		return 0, errors.New("has an exponent that is out of range")
	}
	zeros := len(digits) - len(significant) - len(part[3]) + exponent + Decimals
	switch {
	case zeros < 0:
		return 0, fmt.Errorf("has more than %d decimals", Decimals)
	case len(significant)+zeros > 19: // the digits of 2^63
		return 0, errors.New("is too large")
	}
	n, err := strconv.ParseInt(part[1]+significant+strings.Repeat("0", zeros), 10, 64)
	if err != nil {
		return 0, errors.New("is too large")
	}
	return Amount(n), nil
}

// String is the amount in decimal, without zeros at the end.
func (a Amount) String() string {
	sign, n := "", uint64(a)
	if a < 0 {
		sign, n = "-", -n
	}
	const unit = 1_000_000_000
	fraction := strings.TrimRight(fmt.Sprintf("%0*d", Decimals, n%unit), "0")
	if fraction != "" {
		fraction = "." + fraction
	}
	return sign + strconv.FormatUint(n/unit, 10) + fraction
}
