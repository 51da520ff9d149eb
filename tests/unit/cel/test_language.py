# SPDX-License-Identifier: Apache-2.0
"""The language: what CEL's definition says, over values of which nothing is declared."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.cel.builders import problem_of, refusal_of, value_of

VALUES: dict[str, tuple[str, Any]] = {
    "multiplication binds tighter than addition": ("1 + 2 * 3", 7),
    "subtraction goes from left to right": ("10 - 4 - 3", 3),
    "integers divide towards zero": ("-7 / 2", -3),
    "a remainder has the sign of what is divided": ("-7 % 2", -1),
    "doubles divide by zero without complaint": ("1.0 / 0.0 > 1e300", True),
    "integers are read in hexadecimal": ("0xFF", 255),
    "an unsigned integer is a plain integer outside": ("1u + 2u", 3),
    "strings are joined": ("'a' + \"b\" + '''c'''", "abc"),
    "raw strings keep their backslashes": (r"r'\d' + '\\d'", r"\d\d"),
    "escapes are read": (r"'\n\x41\u00e9\U0001F600'", "\nA\u00e9\U0001f600"),
    "bytes hold what is no text": (r"b'\xff\x00'", b"\xff\x00"),
    "lists are joined": ("[1] + [2, 3]", [1, 2, 3]),
    "lists are compared item by item": ("[[1], [2, 3]] == [[1], [2, 3]]", True),
    "maps are compared whatever their order": ("{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", True),
    "a map is read by field and by key": ("{'a': 1}.a + {'a': 2}['a']", 3),
    "true is not one": ("dyn(true) == dyn(1)", False),
    "true is not one inside a list": ("dyn([true]) == dyn([1])", False),
    "a key that is true is not the key one": ("dyn(1) in dyn({true: 'x'})", False),
    "one is one whatever kind of number it is": ("dyn(1) == dyn(1.0) && dyn(1u) == dyn(1)", True),
    "numbers of different kinds are ordered": ("1 < 1.5 && 2u > 1 && 1.0 <= 1u", True),
    "big integers are compared exactly": ("9007199254740993 > 9007199254740992.0", True),
    "strings are ordered by code point": ("'a' < 'b' && 'Z' < 'a' && 'é' > 'z'", True),
    "false comes before true": ("false < true", True),
    "null equals null": ("null == null", True),
    "a value is found in a list": ("2 in [1, 2]", True),
    "a key is found in a map": ("'a' in {'a': 1}", True),
    "a size counts characters": ("size('日本') + '日本'.size()", 4),
    "a size counts bytes, items and keys": ("size(b'ab') + size([1]) + size({'a': 1})", 4),
    "a choice takes one of two": ("true ? 1 : 2", 1),
    "the other branch of a choice is not run": ("false ? 1 / 0 : 2", 2),
    "a condition that is false outweighs an error to its left": ("1 / 0 > 0 && false", False),
    "a condition that is true outweighs an error to its left": ("1 / 0 > 0 || true", True),
    "all holds for every item": ("[1, 2].all(x, x > 0)", True),
    "all holds for nothing": ("[].all(x, false)", True),
    "one false item outweighs an error in all": ("[0, 1].all(x, 1 / x > 5)", False),
    "exists finds one item": ("[1, 2].exists(x, x == 2)", True),
    "one true item outweighs an error in exists": ("[0, 1].exists(x, 1 / x == 1)", True),
    "exists_one wants exactly one": ("[1, 2, 2].exists_one(x, x == 2)", False),
    "map makes a list": ("[1, 2].map(x, x * 2)", [2, 4]),
    "map may filter": ("[1, 2, 3].map(x, x > 1, x * 2)", [4, 6]),
    "filter keeps items": ("[1, 2, 3].filter(x, x != 2)", [1, 3]),
    "a loop over a map sees its keys": ("{'a': 1, 'b': 2}.map(k, k)", ["a", "b"]),
    "a loop of two names over a list sees places": ("['a', 'b'].transformList(i, v, i)", [0, 1]),
    "a loop of two names over a map sees values": ("{'a': 1}.all(k, v, k == 'a' && v == 1)", True),
    "a map is made of a map": ("{'a': 1}.transformMap(k, v, v + 1)", {"a": 2}),
    "entries are made of a list": (
        "['a', 'b'].transformMapEntry(i, v, {v: i})",
        {"a": 0, "b": 1},
    ),
    "an inner name hides an outer one": ("[1].map(x, [2].map(x, x))", [[2]]),
    "has tells whether a field is there": ("has({'a': 1}.a) && !has({'a': 1}.b)", True),
    "an optional field may be absent": ("{'a': 1}.?b.orValue(7)", 7),
    "absence goes through further fields": ("{'a': {'b': {'c': 1}}}.?x.b.c.hasValue()", False),
    "an optional place may be absent": ("[1][?3].orValue(9)", 9),
    "an optional item is left out": ("[?optional.none(), 1]", [1]),
    "an optional entry is left out": ("{?'a': optional.none(), 'b': 1}", {"b": 1}),
    "the first of two optional values that is there": ("{'a': 1}.?b.or(optional.of(3))", 3),
    "a value that is absent is None outside": ("optional.none()", None),
    "optMap applies where there is a value": ("optional.of(2).optMap(x, x * 2)", 4),
    "optFlatMap may lose the value": ("optional.of(2).optFlatMap(x, optional.none())", None),
    "types can be asked for": ("type(1) == int && type([]) == list && type(int) == type", True),
    "a type is its name outside": ("type('x')", "string"),
    "numbers are converted": ("int(1.9) + int('3') + int(2u)", 6),
    "numbers become text": ("string(1) + string(1.5) + string(2u)", "11.52"),
    "a double is written shortly": ("string(1e7) + ' ' + string(0.1)", "1e+07 0.1"),
    "times are taken apart": ("timestamp('2001-02-03T04:05:06Z').getMonth()", 1),
    "times know zones": ("timestamp('2001-02-03T04:05:06Z').getHours('Asia/Tokyo')", 13),
    "times are text outside": (
        "timestamp('2001-02-03T04:05:06Z') + duration('1h')",
        "2001-02-03T05:05:06Z",
    ),
    "durations are text outside": ("duration('90m') - duration('30s')", "1h29m30s"),
    "the difference of times is a duration": (
        "timestamp('2001-01-01T00:01:00Z') - timestamp('2001-01-01T00:00:00Z')",
        "1m0s",
    ),
    "patterns are searched for, not matched whole": ("'abc'.matches('b')", True),
    "a list is sorted by what is computed": ("['bb', 'a'].sortBy(x, size(x))", ["a", "bb"]),
}


@pytest.mark.parametrize(("expression", "value"), VALUES.values(), ids=VALUES)
def test_an_expression_has_its_value(expression: str, value: Any) -> None:
    found = value_of(expression)
    assert found == value
    assert type(found) is type(value)


PROBLEMS: dict[str, tuple[str, str]] = {
    "an integer that is too large": ("9223372036854775807 + 1", "integer overflow"),
    "the lowest integer has no opposite": ("-(-9223372036854775807 - 1)", "integer overflow"),
    "an unsigned integer below zero": ("1u - 2u", "unsigned integer overflow"),
    "a division by zero": ("1 / 0", "division by zero"),
    "a remainder by zero": ("1 % 0", "modulus by zero"),
    "a place that is not there": ("[1][1]", "index out of bounds: 1"),
    "a key that is not there": ("{'a': 1}['b']", "no such key: b"),
    "a field that is not there": ("{'a': 1}.b", "no such key: b"),
    "values that do not fit together": ("dyn(1) + dyn('a')", "no such overload"),
    "a condition that is none": ("dyn(1) && true", "no such overload"),
    "a value that is absent": ("optional.none().value()", "optional.none() dereference"),
    "text that is no number": ("int('a' + 'b')", "type conversion error from 'string' to 'int'"),
    "an order with what is no number": ("0.0 / 0.0 < 1.0", "NaN values cannot be ordered"),
    "a loop over a number": ("dyn(1).all(x, x)", "got 'types.Int', expected iterable type"),
    "a field of null": ("object.a", "no such key: a"),
    "a field of a list": ("dyn([1]).a", "unsupported index type 'string' in list"),
    "an error on both sides is the left one": ("1 / 0 > 0 || [1][1] > 0", "division by zero"),
    "a key inserted twice": (
        "['a', 'a'].transformMapEntry(i, v, {v: i})",
        "insert failed: key a already exists",
    ),
}


@pytest.mark.parametrize(("expression", "said"), PROBLEMS.values(), ids=PROBLEMS)
def test_an_expression_without_a_value_says_why(expression: str, said: str) -> None:
    assert problem_of(expression) == said


REFUSALS: dict[str, tuple[str, str]] = {
    "a name that is not known": ("nobody", "undeclared reference to 'nobody' (in container '')"),
    "a function that is not known": ("shout(1)", "undeclared reference to 'shout'"),
    "cel.bind, which only selectors know": ("cel.bind(x, 1, x)", "undeclared reference to 'cel'"),
    "operands that no operator takes": (
        "1 + 'a'",
        "found no matching overload for '_+_' applied to '(int, string)'",
    ),
    "a method that the type has not": (
        "(1).startsWith('a')",
        "found no matching overload for 'startsWith' applied to 'int.(string)'",
    ),
    "a condition that is a number": ("1 && true", "expected type 'bool' but found 'int'"),
    "a loop over a number": (
        "(1).all(x, true)",
        "expression of type 'int' cannot be range of a comprehension",
    ),
    "a loop whose name is none": ("[1].all(1, true)", "argument must be a simple name"),
    "a loop of two equal names": ("[1].all(x, x, true)", "duplicate variable name: x"),
    "has of what is no field": ("has(object)", "invalid argument to has() macro"),
    "a list of two types": ("[1, 'a']", "expected type 'int' but found 'string'"),
    "a map of two types": ("{'a': 1, 'b': 'c'}", "expected type 'int' but found 'string'"),
    "a pattern that is none": ("'a'.matches('(')", "invalid matches argument"),
    "a duration that is none": ("duration('soon')", "invalid duration argument"),
    "a time that is none": ("timestamp('soon')", "invalid timestamp argument"),
    "a format with too few values": ("'%s %s'.format(['a'])", "index 1 out of range"),
    "a format with too many values": ("'%s'.format(['a', 'b'])", "too many arguments supplied"),
    "a number that no double holds": ("1e400", "invalid double literal"),
    "a word that is reserved": ("for", "reserved identifier: for"),
    "a message, of which there are none": ("Thing{a: 1}", "undeclared reference to 'Thing'"),
    "half an expression": ("1 +", "Syntax error: mismatched input '<EOF>'"),
}


@pytest.mark.parametrize(("expression", "said"), REFUSALS.values(), ids=REFUSALS)
def test_an_expression_that_cannot_be_meant_is_refused(expression: str, said: str) -> None:
    assert refusal_of(expression).startswith(said)
