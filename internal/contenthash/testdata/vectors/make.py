#!/usr/bin/env python3
"""Writes the vectors in this directory: python3 make.py

The expected texts and ids come from the second implementation of the canonical
form that this file is (json and decimal of the standard library), not from the Go
package that is tested with them. Errors are stated by hand, offsets in bytes.
"""

import hashlib
import json
import math
import pathlib
import sys
from decimal import Decimal

HERE = pathlib.Path(__file__).parent
sys.setrecursionlimit(10_000)


# --- the canonical form -------------------------------------------------------

class Number(str):
    """A number literal as it stands in the body."""


def layout(sign, digits, exponent):
    """ECMAScript Number::toString for 0.digits * 10^exponent."""
    digits = digits.lstrip("0")
    stripped = digits.rstrip("0")
    if not stripped:
        return "0"
    k, n = len(stripped), exponent
    if k <= n <= 21:
        text = stripped + "0" * (n - k)
    elif 0 < n <= 21:
        text = stripped[:n] + "." + stripped[n:]
    elif -6 < n <= 0:
        text = "0." + "0" * -n + stripped
    else:
        text = stripped[0] + ("." + stripped[1:] if k > 1 else "") + "e" + ("+" if n > 0 else "-") + str(abs(n - 1))
    return sign + text


def exact(literal):
    sign, digits, exponent = Decimal(literal).as_tuple()
    digits = "".join(map(str, digits)).lstrip("0")
    return layout("-" if sign else "", digits, len(digits) + exponent)


def quoted(text):
    out = []
    for c in text:
        short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(c)
        out.append(short or (f"\\u{ord(c):04x}" if c < " " else c))
    return '"' + "".join(out) + '"'


def canonical(value):
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Number):
        return exact(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(quoted(n) + ":" + canonical(value[n]) for n in names) + "}"


def decode(body):
    return json.loads(body.decode("utf-8"), parse_int=Number, parse_float=Number)


# --- field selection ----------------------------------------------------------

def segments(pointer):
    return [s if s == "~*" else s.replace("~1", "/").replace("~0", "~") for s in pointer.split("/")[1:]]


def exclude(value, path):
    if path[0] == "~*":
        for element in value if isinstance(value, list) else []:
            exclude(element, path[1:])
    elif isinstance(value, dict):
        if len(path) == 1:
            value.pop(path[0], None)
        elif path[0] in value:
            exclude(value[path[0]], path[1:])


def find(value, path):
    for step in path:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return False, None
    return True, value


# --- the vectors --------------------------------------------------------------

def accepted(name, why, body, group=None, **options):
    if isinstance(body, str):
        body = body.encode()
    value = decode(body)
    for pointer in options.get("exclude", []):
        exclude(value, segments(pointer))
    if "include" in options:
        found = {p: find(value, segments(p)) for p in options["include"]}
        value = {p: v for p, (there, v) in found.items() if there}
    text = canonical(value)
    hashed = text if group is None else '["fifoproof/1",' + quoted(group) + "," + text + "]"
    vector = {"name": name, "why": why, "body": body.decode(), **options, "canonical": text}
    if group is not None:
        vector |= {"group": group, "hashed": hashed}
    return vector | {"id": hashlib.sha256(hashed.encode()).hexdigest()}


def refused(name, why, body, kind, pointer, offset, **options):
    content = {"body": body} if isinstance(body, str) else {"hex": body.hex()}
    return {"name": name, "why": why, **content, **options, "error": kind, "pointer": pointer, "offset": offset}


def number(literal, why):
    return accepted(literal if len(literal) < 40 else literal[:20] + "…", why, '{"n":' + literal + "}")


def survives(literal):
    """Whether a double's shortest text has the value of the literal."""
    return math.isfinite(float(literal)) and exact(repr(float(literal))) == exact(literal)


def strict(literal, why):
    body = '{"n":' + literal + "}"
    if survives(literal):
        return accepted("strict " + literal, why, body, strict=True)
    return refused("strict " + literal, why, body, "number that a double changes", "/n", 5, strict=True)


numbers = [
    number("1", "plain"), number("1.0", "trailing zero of a fraction"), number("1e0", "exponent of zero"),
    number("100", "zeros of an integer stay"), number("1E+2", "capital E and plus"), number("12.3e1", "point moved"),
    number("-0", "zero has no sign"), number("-0.000e-7", "every spelling of zero"), number("0e99999999999", "zero whatever the exponent"),
    number("10.00", "money"), number("0.05", "zero behind the point"), number("0.000001", "last plain fraction"),
    number("0.0000001", "first fraction with an exponent"), number("1e-7", "the same value"), number("123e-10", "digits and exponent"),
    number("1e20", "21 digits stand plain"), number("100000000000000000000", "the same value"), number("1e21", "22 digits do not"),
    number("1000000000000000000000", "the same value"), number("123456789012345678901234567890", "30 digits"),
    number("12345678901234567890.5", "long decimal"), number("9007199254740991", "2^53-1"), number("9007199254740993", "2^53+1, no double"),
    number("9007199254740993.0", "the same value"), number("1152921504606846976", "2^60, RFC 8785 prints another number"),
    number("295147905179352825856", "2^68: exact in a double, yet RFC 8785 prints the next one"),
    number("295147905179352830000", "what RFC 8785 prints for 2^68: another id"),
    number("7301234567890123456", "63-bit id"), number("7301234567890123457", "its neighbour"),
    number("333333333.33333329", "RFC 8785's own sample, not rounded here"), number("0.1", "shortest"),
    number("0.10000000000000001", "%.17g of the same double: another id"), number("1e400", "beyond a double"), number("1e-400", "below a double, not zero"),
    number("4e-324", "not 5e-324"), number("17976931348623157e292", "largest double"), number("1.7976931348623157e308", "the same value"),
    number("1e999999999", "largest exponent"), number("1e-999999999", "smallest exponent"), number("1e00000000000000000000000003", "zeros of an exponent"),
    number("-12.50", "negative"), number("-0.5", "negative fraction"), number("0.00001", "plain"), number("1e-05", "Python's repr of it"),
    number("1" + "0" * 60, "long, short mantissa"), number("1" * 60, "long mantissa"),
] + [refused(name, why, '{"n":' + literal + "}", kind, "/n", offset) for name, literal, kind, offset, why in [
    ("leading zero", "01", "bad JSON", 5, "not JSON"), ("negative leading zero", "-01", "bad JSON", 5, "not JSON"),
    ("plus", "+1", "bad JSON", 5, "not JSON"), ("no integer part", ".5", "bad JSON", 5, "not JSON"), ("no fraction", "1.", "bad JSON", 7, "not JSON"),
    ("no exponent", "1e", "bad JSON", 7, "not JSON"), ("no exponent after sign", "1e+", "bad JSON", 8, "not JSON"), ("minus alone", "-", "bad JSON", 6, "not JSON"),
    ("hexadecimal", "0x10", "bad JSON", 6, "not JSON"), ("NaN", "NaN", "bad JSON", 5, "not JSON"), ("Infinity", "-Infinity", "bad JSON", 6, "not JSON"),
    ("space inside", "1 2", "bad JSON", 7, "must not become 12"),
    ("exponent too large", "1e1000000000", "exponent too large", 5, "beyond 999999999"),
    ("exponent far too large", "1e99999999999999999999", "exponent too large", 5, "must not wrap"),
    ("exponent too small", "1e-1000000000", "exponent too large", 5, "must not become zero"),
    ("exponent too large when printed", "10e999999999", "exponent too large", 5, "its canonical text could not be read again"),
]] + [strict(*v) for v in [
    ("1.50", "kept"), ("9007199254740991", "kept"), ("9007199254740992", "kept: the shortest text has the value"), ("9007199254740993", "rounded"),
    ("1152921504606846976", "an exact double, and still printed otherwise"), ("1152921504606847000", "its own shortest text"),
    ("295147905179352825856", "2^68"), ("295147905179352830000", "its own shortest text"),
    ("7301234567890123456", "63-bit id"), ("0.1", "kept"), ("0.10000000000000001", "more digits than the double needs"),
    ("333333333.33333329", "RFC 8785's sample"), ("1e400", "overflow"), ("1e-400", "underflow"), ("5e-324", "smallest subnormal"), ("4e-324", "not a shortest text"),
    ("0e400", "zero"), ("1.7976931348623157e308", "largest double"), ("123456789012345.6", "16 digits"), ("0.30000000000000004", "17 digits"),
]]

strings = [
    accepted("needless escape", "A", r'{"s":"\u0041"}'), accepted("solidus", "not escaped", r'"a\/b"'), accepted("latin", "not escaped", r'"\u00e9\u00E9é"'),
    accepted("controls", "lower-case hex", r'"\u0000\u001F\u000b"'), accepted("short escapes", "where there is one", r'"\u0008\u0009\u000A\u000C\u000D\b\t\n\f\r"'),
    accepted("quote and backslash", "escaped", r'"\u0022\u005C\"\\"'), accepted("DEL", "not escaped", '"\\u007f\x7f"'),
    accepted("U+2028", "not escaped", r'"\u2028\u2029"'), accepted("HTML", "not escaped", r'"\u003c\u003e\u0026<>&"'),
    accepted("pair", "one character", r'"\ud83d\ude00"'), accepted("raw astral", "the same", '"😀"'), accepted("noncharacter", "legal as an escape", r'"\uffff\ufffe"'),
    accepted("NFC", "no normalisation", '"é"'), accepted("NFD", "another text", '"e\u0301"'), accepted("long ASCII", "over several words", '"' + "abcdefgh" * 9 + '"'),
    accepted("mixed", "several lengths", '"aäaa€aaa😀aaaa抹茶aaaaaaa"'), accepted("backslash u", "is text", r'"\\u0041"'), accepted("empty", "no characters", '""'),
] + [refused(n, "not well-formed", b, k, "/s", o) for n, b, k, o in [
    ("lone high", r'{"s":"\ud800"}', "lone surrogate", 6), ("lone low", r'{"s":"a\udc00"}', "lone surrogate", 7),
    ("high, letter", r'{"s":"\ud83dA"}', "lone surrogate", 6), ("high, escape", r'{"s":"\ud83d\u0041"}', "lone surrogate", 6), ("high, high", r'{"s":"\ud83d\ud83d"}', "lone surrogate", 6),
    ("reversed pair", r'{"s":"\ude00\ud83d"}', "lone surrogate", 6), ("raw newline", '{"s":"a\nb"}', "bad JSON", 7), ("raw U+001F", '{"s":"\x1f"}', "bad JSON", 6),
    ("raw NUL", '{"s":"\x00"}', "bad JSON", 6), ("short hex", r'{"s":"\u41xx"}', "bad JSON", 6), ("sign in hex", r'{"s":"\u+041"}', "bad JSON", 6), ("bad escape", r'{"s":"\x41"}', "bad JSON", 6),
    ("capital U", r'{"s":"\U0041"}', "bad JSON", 6),
]] + [refused(n, "not UTF-8", b'{"s":"' + bytes.fromhex(h) + b'"}', "bad UTF-8", "/s", 6) for n, h in [
    ("ff", "ff"), ("overlong slash", "c0af"), ("overlong 2", "c1bf"), ("overlong 3", "e09fbf"), ("overlong 4", "f08fbfbf"), ("surrogate", "eda080"), ("CESU-8", "eda0bdedb880"),
    ("Latin-1", "e9"), ("above U+10FFFF", "f4908080"), ("f5", "f5808080"), ("continuation", "80"), ("cut 2", "c3"), ("cut 3", "e282"), ("cut 4", "f09f98"),
]]

objects = [
    accepted("order", "by name", '{"b":2,"a":1}'), accepted("nested order", "at every depth", '{"x":{"q":[{"j":2,"k":1}],"p":1},"a":0}'),
    accepted("white space", "none", '\r\n\t {"a"\r\n:\t1 , "b" : [ 1 , 2 ] } \r\n'), accepted("escaped name", "decoded before sorting", r'{"b":2,"\u0061":1}'),
    accepted("UTF-16 order", "U+10000 before U+E000", '{"\ue000":1,"\U00010000":2}'), accepted("UTF-16 order, escaped", "the same", r'{"\ue000":1,"\ud800\udc00":2}'),
    accepted("UTF-16 order, many", "RFC 8785 section 3.2.3", '{"\u20ac":"Euro Sign","\\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\U0001f600":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}'),
    accepted("prefix", "the shorter name first", '{"ab":1,"a":2,"":3,"abc":4}'), accepted("long prefix", "beyond eight bytes", '{"customer_name":1,"customer_id":2,"customer_":3,"customer":4}'),
    accepted("controls in names", "by value, not by escape", r'{"!":1,"\n":2,"\u0001":3,"\"":4,"\\":5,"#":6,"a\u0000":7,"a":8}'), accepted("case", "code points, no locale", '{"é":1,"a":2,"_":3,"B":4}'),
    accepted("empty containers", "stay", '{ "b" : [ ] , "a" : { } }'), accepted("null", "stays", '{"a":null}'), accepted("literals", "as they are", '[true,false,null]'),
    accepted("scalar", "any value is a body", '  "a" '), accepted("array order", "kept", "[2,1,1]"), accepted("empty object", "a body", "{}"),
    accepted("many names", "sorted", json.dumps({f"k{i * 7919 % 100}": i for i in range(100)})),
    accepted("deep disorder", "each level put in order once", '{"b":' * 50 + "1" + ',"a":0}' * 50), accepted("1,000 deep", "the limit", "[" * 1000 + "]" * 1000),
    accepted("objects in arrays", "each on its own", '[{"b":1,"a":2},{"a":1,"b":2},{"b":[{"d":0,"c":0}],"a":2}]'),
    accepted("RFC 8785 3.2.2", "numbers kept", '{\n  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],\n  "string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/",\n  "literals": [null, true, false]\n}'),
    refused("twice", "readers disagree", '{"a":1,"a":2}', "duplicate name", "/a", 7), refused("twice, same value", "even so", '{"a":1,"b":0,"a":1}', "duplicate name", "/a", 13),
    refused("twice, escaped", "equal when decoded", r'{"a":1,"\u0061":2}', "duplicate name", "/a", 7), refused("twice, nested", "pointer", '{"x":[0,{"a/b":{"~":1,"c":2,"~":3}}]}', "duplicate name", "/x/1/a~1b/~0", 28),
    refused("twice, astral", "escaped and raw", '{"😀":1,"\\ud83d\\ude00":2}', "duplicate name", "/😀", 10), refused("twice, out of order", "found by sorting", '{"b":1,"a":2,"b":3}', "duplicate name", "/b", 13),
    refused("twice, long", "beyond eight bytes", '{"customer_id":1,"customer_id":2}', "duplicate name", "/customer_id", 17), refused("empty name twice", "a name like others", '{"":1,"":2}', "duplicate name", "/", 6),
    refused("trailing comma", "array", "[1,]", "bad JSON", "/1", 3), refused("trailing comma, object", "object", '{"a":1,}', "bad JSON", "", 7),
    refused("two values", "newline-delimited", '{"a":1}\n{"b":2}', "trailing data", "", 8), refused("trailing comma, top", "after the value", "1,", "trailing data", "", 1),
    refused("bare name", "not JSON", "{a:1}", "bad JSON", "", 1), refused("single quotes", "not JSON", "{'a':1}", "bad JSON", "", 1), refused("cut object", "end", '{"a":1', "bad JSON", "/a", 6),
    refused("cut string", "end", '{"a":"b', "bad JSON", "/a", 7), refused("cut name", "end", '{"a":1,"b', "bad JSON", "", 9), refused("cut escape", "end", r'["\u00', "bad JSON", "/0", 6), refused("no colon", "not JSON", '{"a" 1}', "bad JSON", "/a", 5),
    refused("wrong bracket", "not JSON", '{"a":[1}', "bad JSON", "/a/0", 7), refused("literal with space", "not JSON", "[tr ue]", "bad JSON", "/0", 1), refused("cut literal", "not JSON", "[nul]", "bad JSON", "/0", 1),
    refused("capital literal", "not JSON", "True", "bad JSON", "", 0), refused("empty", "nothing", "", "empty body", "", 0), refused("blank", "nothing", " \n", "empty body", "", 0),
    refused("byte order mark", "not JSON", bytes.fromhex("efbbbf7b7d"), "byte order mark", "", 0), refused("UTF-16", "not UTF-8", '{"a":1}'.encode("utf-16"), "byte order mark", "", 0),
    refused("comment", "not JSON", "/**/1", "bad JSON", "", 0), refused("form feed", "no JSON white space", "\f1", "bad JSON", "", 0), refused("no-break space", "no JSON white space", "\u00a01", "bad JSON", "", 0),
    refused("1,001 deep", "over the limit", "[" * 1001 + "]" * 1001, "nested too deep", "/0" * 1000, 1000),
]

order = '{"order":{"id":7,"items":[{"sku":"a","updated_at":1},{"updated_at":2,"sku":"b"}],"note":null},"type":"paid","sent_at":"2026-01-01","a/b":{"c~d":1,"e":2}}'
selections = [
    accepted("exclude", "a member", order, exclude=["/sent_at"]), accepted("exclude, none there", "no error", order, exclude=["/trace", "/order/trace", "/order/items/~*/x", "/type/~*"][:3]),
    accepted("exclude in elements", "~* is every element", order, exclude=["/order/items/~*/updated_at", "/sent_at"]), accepted("exclude, escaped pointer", "~1 is /, ~0 is ~", order, exclude=["/a~1b/c~0d"]),
    accepted("exclude, escaped name", "decoded before comparing", r'{"sent\u005fat":1,"a":2}', exclude=["/sent_at"]), accepted("exclude an object", "with all below", order, exclude=["/order"]),
    accepted("exclude all of an object", "it stays, empty", '{"a":{"b":1},"c":2}', exclude=["/a/b"]), accepted("exclude below null", "matches nothing", '{"a":null,"c":2}', exclude=["/a/b"]),
    accepted("exclude, array for object", "matches nothing", '{"a":[1],"c":2}', exclude=["/a/b"]), accepted("exclude, object for array", "matches nothing", '{"a":{"b":1},"c":2}', exclude=["/a/~*/b"]),
    accepted("exclude above U+E000", "sort keys", '{"\ue000":1,"\U00010000":2}', exclude=["/\ue000"]), accepted("exclude, strict", "what is left out need not survive", '{"a":9007199254740993,"b":1}', exclude=["/a"], strict=True),
    refused("exclude, strict, hashed", "what is hashed must", '{"a":1,"b":9007199254740993}', "number that a double changes", "/b", 11, exclude=["/a"], strict=True),
    refused("exclude, nothing left", "one id for all", '{"sent_at":1}', "nothing left to hash", "", -1, exclude=["/sent_at"]), refused("exclude, empty body", "one id for all", "{}", "nothing left to hash", "", -1, exclude=["/sent_at"]),
    refused("exclude, twice", "checked where left out, too", '{"a":1,"x":{"b":1,"b":2}}', "duplicate name", "/x/b", 18, exclude=["/x"]), refused("exclude, name twice", "checked where left out, too", '{"a":1,"x":1,"x":2}', "duplicate name", "/x", 13, exclude=["/x"]),
    refused("exclude, scalar", "in the way", '{"a":"text","c":2}', "pointer runs into a scalar", "/a", 5, exclude=["/a/b"]), refused("exclude, scalar body", "in the way", '"text"', "pointer runs into a scalar", "", 0, exclude=["/a"]),
    refused("exclude, scalar element", "in the way", '{"a":[{"b":1},2]}', "pointer runs into a scalar", "/a/1", 14, exclude=["/a/~*/b"]),
    accepted("include", "object from pointer to value", order, include=["/type", "/order/id"]), accepted("include, an object", "canonical", order, include=["/order", "/type"]), accepted("include, element", "by index", order, include=["/order/items/1/sku"]),
    accepted("include, element with disorder", "put in order", order, include=["/order/items/1"]), accepted("include, escaped pointer", "the pointer is the name", order, include=["/a~1b/c~0d"]), accepted("include, quotes in the name", "escaped", r'{"a\"b":1,"c":2}', include=['/a"b']),
    accepted("include, index as name", "in an object", '{"a":{"0":1,"1":2}}', include=["/a/0"]), accepted("include, null allowed", "null", order, include=["/order/note", "/type"], allowNull=["/order/note"]),
    accepted("include, missing allowed", "absent", order, include=["/order/none", "/type"], allowMissing=["/order/none"]), accepted("include, parent null", "missing", '{"a":null,"b":1}', include=["/a/x", "/b"], allowMissing=["/a/x"]),
    accepted("include, strict", "the rest need not survive", '{"a":9007199254740993,"b":[1]}', include=["/b"], strict=True), accepted("include, respelled", "as everywhere", '{ "b" : 1.50, "a" : "\\u0041" }', include=["/b", "/a"]),
    refused("include, strict", "what is hashed must", '{"a":1,"b":[1,1e400]}', "number that a double changes", "/b/1", 14, include=["/b"], strict=True), refused("include, missing", "an error", order, "missing field", "/order/none", -1, include=["/order/none", "/type"]),
    refused("include, null", "an error", order, "null field", "/order/note", order.index("null"), include=["/order/note", "/type"]), refused("include, scalar", "in the way", order, "pointer runs into a scalar", "/order/id", 15, include=["/order/id/x", "/type"]),
    refused("include, all missing", "one id for all", order, "nothing left to hash", "", -1, include=["/x", "/y"], allowMissing=["/x", "/y"]), refused("include, index too large", "missing", order, "missing field", "/order/items/2/sku", -1, include=["/order/items/2/sku"]),
    refused("include, twice", "the whole body is checked", '{"a":1,"x":{"b":1,"b":2}}', "duplicate name", "/x/b", 18, include=["/a"]), refused("include, bad text", "the whole body is checked", '{"a":1,"x":"\\q"}', "bad JSON", "/x", 12, include=["/a"]),
]

groups = [
    accepted("group", "in the hash", '{"b":1,"a":2}', group="customer-17"), accepted("other group", "another id", '{"b":1,"a":2}', group="customer-18"), accepted("empty group", "a group like others", "{}", group=""),
    accepted("group with quotes", "a JSON string", "1", group='a"b\\c'), accepted("group like a body", "unambiguous", "1", group='g",1]'), accepted("group outside ASCII", "UTF-8", "1", group="größe 😀"),
    accepted("group and selection", "both", order, group="g", exclude=["/sent_at"]), accepted("group and inclusion", "both", order, group="g", include=["/type"]), accepted("group with a control character", "escaped", "1", group="a\nb\x01"),
]

for category in ("numbers", "strings", "objects", "selections", "groups"):
    with open(HERE / f"{category}.json", "w", encoding="utf-8") as f:
        lines = (json.dumps(v, ensure_ascii=True) for v in globals()[category])
        f.write("[\n" + ",\n".join(lines) + "\n]\n")
