package main

import (
	"fmt"
	"strconv"
	"time"
)

// customers have names and cities that are not all ASCII, as customers do.
var customers = []struct{ name, city string }{
	{"Zoë Müller", "Köln"},
	{"José Álvarez", "A Coruña"},
	{"佐藤 花子", "札幌市"}, //nolint:gosmopolitan // names in any script are what this list is for
	{"Jan Nowak", "Łódź"},
	{"Siobhán O'Brien", "Dún Laoghaire"},
	{"Νίκος Παπαδόπουλος", "Αθήνα"},
	{"Anna Smith", "Leeds"},
	{"Đặng Thị Hoa", "Đà Nẵng"},
	{"François Lefèvre", "Besançon"},
	{"Ægir Jónsson", "Ísafjörður"},
	{"Maria Sørensen", "Tromsø"},
	{"Tom & Jerry GmbH", "Zürich"},
	{"🦊 Foxworks Ltd", "Bristol"},
}

var articles = []struct {
	sku, name string
	cents     int
}{
	{"KB-104-DE", "Tastatur 104 Tasten, weiß", 4990},
	{"MS-2B", "Mouse, 2 buttons", 1250},
	{"CBL-USBC-2", "USB-C cable 2 m / 6.6 ft", 899},
	{"MON-27-4K", `Monitor 27" 4K`, 32900},
	{"CHR-ERGO", "Chaise de bureau réglable", 21995},
	{"PAP-A4-500", "Papier A4 <80 g/m²>, 500 feuilles", 620},
	{"INK-BK", "Ink, black", 1700},
	{"STK-500", "Sticky notes 5 × 100", 349},
	{"CUP-OAT", "Кружка керамическая", 1100},
}

// The ids are beyond 2^53, where a double no longer tells neighbours apart: at 7.3e17
// it rounds to multiples of 128.
const (
	firstOrder = 730_123_456_789_012_345
	firstLine  = 912_345_678_901_234_567
)

// twin is an order that differs from the one before in its id only: two clicks that are
// two orders. A hash that goes through doubles takes them for one.
const twin = 101

// newOrder is the order number n, from 0.
func newOrder(n int) value {
	content := n
	if n == twin {
		content = n - 1
	}
	c := content % len(customers)
	total := 0
	var items array
	for i := range 1 + content%3 {
		a := articles[(content*2+i*5)%len(articles)]
		quantity := 1 + (content+i)%4
		total += quantity * a.cents
		items = append(items, object{
			{"line_id", whole(firstLine + 4*content + i)},
			{"sku", text(a.sku)},
			{"name", text(a.name)},
			{"quantity", whole(quantity)},
			{"unit_price", money(a.cents)},
		})
	}
	coupon := value(null{})
	if content%4 == 1 {
		coupon = text(fmt.Sprintf("SPRING-%d%%", 5+content%3*5))
	}
	placed := time.Date(2026, time.March, 2, 8, 0, 0, 0, time.UTC).Add(time.Duration(content*97) * time.Second)
	return object{
		{"order_id", whole(firstOrder + n)},
		{"type", text("order.placed")},
		{"placed_at", text(placed.Format(time.RFC3339))},
		{"customer", object{
			{"id", text(fmt.Sprintf("cus_%d", 8800+c))},
			{"name", text(customers[c].name)},
			{"city", text(customers[c].city)},
		}},
		{"items", items},
		{"total", money(total)},
		{"currency", text("EUR")},
		{"weight_kg", number{"0.75", "7.5e-1"}},
		{"paid", boolean(content%7 != 0)},
		{"coupon", coupon},
	}
}

func whole(n int) number {
	digits := strconv.Itoa(n)
	return number{digits, fmt.Sprintf("%s.%se%d", digits[:1], digits[1:]+"0", len(digits)-1)}
}

func money(cents int) number {
	return number{fmt.Sprintf("%d.%02d", cents/100, cents%100), fmt.Sprintf("%dE-2", cents)}
}
