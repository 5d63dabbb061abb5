package conformance

import (
	"context"
	"path"
	"slices"
)

// order is the body that most cases send: canonical, with a member of each kind,
// an id beyond what a double holds, and a name outside ASCII.
const order = `{"event":"order.paid","id":7301234567890123456,"items":[{"qty":2,"sku":"A-1"},{"qty":1,"sku":"B-7"}],"note":null,"paid":true,"ship":{"city":"Zürich"},"total":129.9}`

// spellings are other ways to write the same order: the id is made from the
// canonical form, so each of them is the same message.
var spellings = []struct{ name, text, body string }{
	{
		"key-order", "with its members in another order",
		`{"total":129.9,"ship":{"city":"Zürich"},"paid":true,"note":null,"items":[{"sku":"A-1","qty":2},{"sku":"B-7","qty":1}],"id":7301234567890123456,"event":"order.paid"}`,
	},
	{
		"white-space", "with white space between its tokens",
		"{ \"event\": \"order.paid\",\t\"id\": 7301234567890123456, \"items\": [ {\"qty\": 2, \"sku\": \"A-1\"}, {\"qty\": 1, \"sku\": \"B-7\"} ], \"note\": null, \"paid\": true, \"ship\": {\"city\": \"Zürich\"}, \"total\": 129.9 }",
	},
	{
		"escapes", "with other escapes in its strings and names",
		`{"event":"order\u002epaid","\u0069d":7301234567890123456,"items":[{"qty":2,"sku":"A\u002D1"},{"qty":1,"sku":"B-7"}],"note":null,"paid":true,"ship":{"city":"Z\u00fcrich"},"total":129.9}`,
	},
	{
		"numbers", "with its numbers spelled another way",
		`{"event":"order.paid","id":7.301234567890123456e18,"items":[{"qty":2.0,"sku":"A-1"},{"qty":1e0,"sku":"B-7"}],"note":null,"paid":true,"ship":{"city":"Zürich"},"total":129.90}`,
	},
}

// changes are orders that differ in one field: each is another message.
var changes = []struct{ name, text, body string }{
	{"string", "a string", `{"event":"order.paiD","id":7301234567890123456,"items":[{"qty":2,"sku":"A-1"},{"qty":1,"sku":"B-7"}],"note":null,"paid":true,"ship":{"city":"Zürich"},"total":129.9}`},
	{"number", "the last digit of a number that a double cannot hold", `{"event":"order.paid","id":7301234567890123457,"items":[{"qty":2,"sku":"A-1"},{"qty":1,"sku":"B-7"}],"note":null,"paid":true,"ship":{"city":"Zürich"},"total":129.9}`},
	{"boolean", "a boolean", `{"event":"order.paid","id":7301234567890123456,"items":[{"qty":2,"sku":"A-1"},{"qty":1,"sku":"B-7"}],"note":null,"paid":false,"ship":{"city":"Zürich"},"total":129.9}`},
	{"null", "null for an empty string", `{"event":"order.paid","id":7301234567890123456,"items":[{"qty":2,"sku":"A-1"},{"qty":1,"sku":"B-7"}],"note":"","paid":true,"ship":{"city":"Zürich"},"total":129.9}`},
	{"nested", "a field of a nested object", `{"event":"order.paid","id":7301234567890123456,"items":[{"qty":2,"sku":"A-1"},{"qty":1,"sku":"B-7"}],"note":null,"paid":true,"ship":{"city":"Zurich"},"total":129.9}`},
	{"array", "the order of an array", `{"event":"order.paid","id":7301234567890123456,"items":[{"qty":1,"sku":"B-7"},{"qty":2,"sku":"A-1"}],"note":null,"paid":true,"ship":{"city":"Zürich"},"total":129.9}`},
	{"added", "one field more", `{"event":"order.paid","gift":false,"id":7301234567890123456,"items":[{"qty":2,"sku":"A-1"},{"qty":1,"sku":"B-7"}],"note":null,"paid":true,"ship":{"city":"Zürich"},"total":129.9}`},
	{"removed", "one field less", `{"event":"order.paid","id":7301234567890123456,"items":[{"qty":2,"sku":"A-1"},{"qty":1,"sku":"B-7"}],"paid":true,"ship":{"city":"Zürich"},"total":129.9}`},
}

func contentCases() []Case {
	var cases []Case
	for _, s := range spellings {
		cases = append(cases, second("content/spelling/"+s.name, canonical,
			"An order, then the same order "+s.text+". The producer hashes the canonical form and sends the bytes as they are, so the second is a duplicate.",
			"no copy of the second spelling", s.body, 0))
	}
	for _, c := range changes {
		cases = append(cases, second("content/field/"+c.name, sendMessage,
			"An order, then one that differs in one field: "+c.text+". Its id differs, so it is delivered.",
			"one more copy", c.body, 1))
	}
	cases = append(cases, Case{
		ID: "content/field/matrix", Level: Must, Source: canonical,
		Text:     "Every field of the order, in every object and array, is changed, given one member more, or removed, each by itself. Each change makes another id, so each is a new message. A field that does not count is a field whose change your consumers never hear of.",
		Timeline: "0 s send the order · fence · send each change of each field · fence",
		Want:     "every change is a new message",
		steps:    everyField(order),
	})
	return slices.Concat(cases, hashCases(), hashAgainCases(), bodyCases(), idCases(), toggleCases())
}

// second is a case that sends the order and then another body, through producer
// and consumer.
func second(id, source, text, want, body string, copies int) Case {
	return Case{
		ID: id, Level: Must, Source: source, Text: text, Want: want,
		Timeline: "0 s send the order, receive and delete it · send the other body · fence",
		steps: func(ctx context.Context, b *Bench) error {
			q, err := b.queueInUse(ctx, plain)
			if err != nil {
				return err
			}
			if err := q.claim(ctx, "the order", 1, q.ordering(ctx, order)); err != nil {
				return err
			}
			return q.claim(ctx, path.Base(id), copies, q.ordering(ctx, body))
		},
	}
}
