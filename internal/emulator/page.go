package emulator

import (
	"encoding/base64"
	"sort"
)

const maxResults = 1000

// page is one page of a listing by name. A token is the last name of the page before,
// so that a queue made or deleted in between disturbs no other.
type page struct {
	after  string
	most   int
	tokens bool // without MaxResults the API returns none (API reference, ListQueues)
}

func newPage(most *int64, token *string) (page, error) {
	p := page{most: maxResults}
	if most != nil {
		if err := checkRange("MaxResults", *most, 1, maxResults); err != nil {
			return p, err
		}
		p.most, p.tokens = int(*most), true
	}
	after, err := base64.RawURLEncoding.DecodeString(text(token))
	if err != nil {
		return p, invalidValue(*token, "NextToken", "It is not a token of this endpoint.")
	}
	p.after = string(after)
	return p, nil
}

// of are the names, out of sorted ones, that are on the page, and the token of the next.
func (p page) of(names []string) (on []string, token string) {
	names = names[sort.Search(len(names), func(i int) bool { return names[i] > p.after }):]
	if len(names) <= p.most {
		return names, ""
	}
	names = names[:p.most]
	if p.tokens {
		token = base64.RawURLEncoding.EncodeToString([]byte(names[len(names)-1]))
	}
	return names, token
}
