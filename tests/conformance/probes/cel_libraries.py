# SPDX-License-Identifier: Apache-2.0
"""What a rule of a custom resource can compute: macros, libraries, formats, and its errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conformance.own import see_creations
from tests.conformance.probe import Probe, probe
from tests.conformance.schemas import INT_OR_TEXT, NUMBER, WHOLE, object_of, ruled
from tests.conformance.schemas import list_of as unlimited_list
from tests.conformance.schemas import map_of as unlimited_map

if TYPE_CHECKING:
    from tests.conformance.probe import Body

# The cost of a rule is estimated from the limits of what it reads.
TEXT = {"type": "string", "maxLength": 100}
_PAIR = object_of(a=WHOLE, b=WHOLE)


def list_of(items: dict[str, Any]) -> dict[str, Any]:
    return unlimited_list(items, maxItems=10)


def map_of(values: dict[str, Any]) -> dict[str, Any]:
    return unlimited_map(values, maxProperties=10)


def _created(spec_schema: dict[str, Any], *specs: Any) -> Body:
    async def create(p: Probe) -> None:
        await see_creations(p, spec_schema, specs)

    return create


# Rules on the spec and specs to try them with, by what they show.
RULES: dict[str, tuple[dict[str, Any], str, list[Any]]] = {
    "has tells a missing field from one that is there": (
        object_of(a=TEXT, b=TEXT),
        "has(self.a) != has(self.b)",
        [{"a": ""}, {}, {"a": "", "b": ""}],
    ),
    "a field that is missing makes a rule that reads it fail": (
        object_of(a=TEXT),
        "self.a != 'x'",
        [{}, {"a": "y"}],
    ),
    "a division by zero in a rule is an error of the object": (
        _PAIR,
        "self.a / self.b > 0",
        [{"a": 1, "b": 0}, {"a": 2, "b": 1}],
    ),
    "an index out of bounds in a rule is an error of the object": (
        object_of(l=list_of(TEXT)),
        "self.l[1] == 'x'",
        [{"l": ["x"]}],
    ),
    "an overflow in a rule is an error of the object": (
        _PAIR,
        "self.a + self.b > 0",
        [{"a": 9223372036854775807, "b": 1}],
    ),
    "a rule can use macros over lists": (
        object_of(l=list_of(WHOLE)),
        "self.l.all(x, x > 0) && self.l.exists(x, x > 5) && self.l.exists_one(x, x == 1)"
        " && self.l.map(x, x * 2).filter(x, x > 10).size() > 0",
        [{"l": [1, 6]}, {"l": [1, 1, 6]}, {"l": []}],
    ),
    "a rule can use macros over maps": (
        object_of(m=map_of(WHOLE)),
        "self.m.all(k, k.startsWith('k') && self.m[k] > 0) && 'k1' in self.m",
        [{"m": {"k1": 1}}, {"m": {"k1": 1, "z": 1}}, {"m": {"k2": 1}}],
    ),
    "a rule can use macros with two variables": (
        object_of(m=map_of(WHOLE), l=list_of(WHOLE)),
        "self.m.all(k, v, k != 'bad' && v > 0) && self.l.all(i, v, i == v)",
        [{"m": {"a": 1}, "l": [0, 1]}, {"m": {"bad": 1}, "l": []}, {"m": {}, "l": [1]}],
    ),
    "a rule can use functions of strings": (
        object_of(s=TEXT, l=list_of(TEXT)),
        "self.s.trim() == 'A,B' && self.s.lowerAscii() == 'a,b ' && self.s.upperAscii() == self.s"
        " && self.s.split(',').size() == 2 && self.s.replace('A', 'x') == 'x,B '"
        " && self.s.indexOf(',') == 1 && self.s.lastIndexOf('A') == 0"
        " && self.s.substring(0, 1) == 'A' && self.s.charAt(0) == 'A' && self.s.startsWith('A')"
        " && self.s.endsWith(' ') && self.s.contains(',') && self.l.join('-') == 'a-b'"
        " && strings.quote(self.s) == '\"A,B \"'",
        [{"s": "A,B ", "l": ["a", "b"]}, {"s": "c", "l": []}],
    ),
    "a rule can match and find by regular expressions": (
        object_of(s=TEXT),
        "self.s.matches('^[a-c]+[0-9]*$') && self.s.find('[0-9]+') == '12'"
        " && self.s.findAll('[a-c]').size() == 2",
        [{"s": "ab12"}, {"s": "ab"}],
    ),
    "a rule can write values with format": (
        object_of(s=TEXT, n=WHOLE),
        "'%s-%d-%x-%.2f'.format([self.s, self.n, self.n, 1.5]) == 'a-10-a-1.50'",
        [{"s": "a", "n": 10}, {"s": "b", "n": 10}],
    ),
    "a rule can use functions of lists": (
        object_of(l=list_of(WHOLE)),
        "self.l.isSorted() && self.l.sum() == 6 && self.l.min() == 1 && self.l.max() == 3"
        " && self.l.indexOf(2) == 1 && self.l.lastIndexOf(2) == 1",
        [{"l": [1, 2, 3]}, {"l": [3, 2, 1]}],
    ),
    "a rule can treat lists as sets": (
        object_of(l=list_of(TEXT)),
        "sets.contains(['a', 'b', 'c'], self.l) && sets.intersects(self.l, ['a'])"
        " && !sets.equivalent(self.l, ['c'])",
        [{"l": ["a", "b"]}, {"l": ["d"]}],
    ),
    "a rule can compare and add quantities": (
        object_of(q=TEXT),
        "isQuantity(self.q) && quantity(self.q).isGreaterThan(quantity('500m'))"
        " && quantity(self.q).add(quantity('1')).compareTo(quantity('2')) == 0",
        [{"q": "1000m"}, {"q": "100m"}, {"q": "much"}],
    ),
    "a quantity that is none makes the rule fail": (
        object_of(q=TEXT),
        "quantity(self.q).isInteger()",
        [{"q": "much"}, {"q": "1.5"}],
    ),
    "a rule can look into addresses": (
        object_of(ip=TEXT),
        "isIP(self.ip) && ip(self.ip).family() == 4 && !ip(self.ip).isLoopback()",
        [{"ip": "10.0.0.1"}, {"ip": "127.0.0.1"}, {"ip": "x"}],
    ),
    "a rule can look into networks": (
        object_of(net=TEXT),
        "isCIDR(self.net) && cidr('10.0.0.0/8').containsCIDR(self.net)"
        " && cidr(self.net).containsIP('10.1.0.1') && cidr(self.net).prefixLength() == 16",
        [{"net": "10.1.0.0/16"}, {"net": "11.1.0.0/16"}],
    ),
    "a rule can look into links": (
        object_of(u=TEXT),
        "isURL(self.u) && url(self.u).getScheme() == 'https' && url(self.u).getHostname() =="
        " 'example.com' && url(self.u).getQuery()['q'] == ['1']",
        [{"u": "https://example.com:80/p?q=1"}, {"u": "http://example.com"}, {"u": "../x y"}],
    ),
    "a rule can compare semantic versions": (
        object_of(v=TEXT),
        "isSemver(self.v) && semver(self.v).isGreaterThan(semver('1.2.3'))"
        " && semver(self.v).major() == 1",
        [{"v": "1.3.0"}, {"v": "1.0.0"}, {"v": "v1"}],
    ),
    "a rule can validate by formats that have a name": (
        object_of(n=TEXT),
        "!format.dns1123Label().validate(self.n).hasValue()",
        [{"n": "good-name"}, {"n": "Bad_Name"}],
    ),
    "a rule sees a string of the format duration as a duration": (
        object_of(d={**TEXT, "format": "duration"}),
        "self.d > duration('1m') && self.d.getSeconds() == 90",
        [{"d": "90s"}, {"d": "30s"}],
    ),
    "a rule sees a string of the format date-time as a time": (
        object_of(t={**TEXT, "format": "date-time"}),
        "self.t > timestamp('2001-01-01T00:00:00Z') && self.t.getFullYear() == 2002",
        [{"t": "2002-01-01T00:00:00Z"}, {"t": "2000-01-01T00:00:00Z"}],
    ),
    "a rule can tell the types of int-or-string apart": (
        object_of(p=INT_OR_TEXT),
        "type(self.p) == int ? self.p < 10 : self.p.endsWith('%')",
        [{"p": 5}, {"p": 50}, {"p": "5%"}, {"p": "5"}],
    ),
    "a rule that takes int-or-string for an integer fails on a string": (
        object_of(p=INT_OR_TEXT),
        "self.p > 1",
        [{"p": 5}, {"p": "5"}],
    ),
    "a rule compares numbers with integers directly and adds them after a conversion": (
        object_of(n=NUMBER, w=WHOLE),
        "self.n > self.w && self.n + double(self.w) > 1.0",
        [{"n": 1.5, "w": 1}, {"n": 1, "w": 1}],
    ),
    "a field whose name is a reserved word is escaped": (
        object_of(**{"namespace": TEXT, "a-b": TEXT, "a.b": TEXT, "a/b": TEXT, "a__b": TEXT}),
        "self.__namespace__ == 'n' && self.a__dash__b == 'd' && self.a__dot__b == 'o'"
        " && self.a__slash__b == 's' && self.a__underscores__b == 'u'",
        [{"namespace": "n", "a-b": "d", "a.b": "o", "a/b": "s", "a__b": "u"}],
    ),
    "null in a nullable field counts as absent": (
        object_of(a={**TEXT, "nullable": True}),
        "!has(self.a)",
        [{"a": None}, {"a": "x"}],
    ),
    "a default is filled in before rules run": (
        object_of(a={"type": "string", "default": "d"}),
        "self.a == 'd'",
        [{}, {"a": "x"}],
    ),
    "fields that the schema does not have are gone before rules run": (
        {"type": "object", "properties": {"a": TEXT}},
        "!has(self.a)",
        [{"b": 1}],
    ),
}
for _title, (_schema, _rule, _specs) in RULES.items():
    probe(_title)(_created(ruled(_schema, _rule), *_specs))
