# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.reviews import UID, a_body, a_request, a_thing, an_envelope
from trellis.webhooks.refusals import InvalidJson, NotAReview, Refused
from trellis.webhooks.review import Operation, Review, Unfit, User, decode, encode, respond
from trellis.webhooks.verdict import ALLOWED, Allowed, Cause, Denied, Verdict, invalid

LEVELS = 64
# The review, its request, the object and its spec are the first levels of a body.
WITHIN = LEVELS - 4


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def answered(verdict: Verdict, operation: str = "CREATE", **changes: Any) -> dict[str, Any]:
    review = decode(a_body(operation, **changes))
    whole = json.loads(encode(respond(review, verdict)))
    assert (whole["apiVersion"], whole["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    response: dict[str, Any] = whole["response"]
    assert response.pop("uid") == UID
    return response


def patch(response: dict[str, Any]) -> Any:
    assert response["patchType"] == "JSONPatch"
    return json.loads(base64.b64decode(response["patch"]))


def test_a_review_is_read_whole() -> None:
    review = decode(
        a_body(
            "UPDATE",
            subResource="scale",
            dryRun=True,
            options={"kind": "UpdateOptions"},
            userInfo={"username": "ann", "groups": ["people"], "extra": {"k": ["v"]}},
            unknownOfLater="ignored",
        )
    )
    assert review.operation is Operation.UPDATE
    assert review.user == User(username="ann", groups=("people",), extra={"k": ("v",)})
    assert (review.namespace, review.name, review.sub_resource) == ("team", "one", "scale")
    assert (review.dry_run, review.options) == (True, {"kind": "UpdateOptions"})
    assert (review.kind.kind, review.resource.resource) == ("Thing", "things")
    assert (review.new(), review.old()) == (a_thing(), a_thing())


def test_an_object_that_is_not_there_is_empty() -> None:
    assert decode(a_body("DELETE")).new() == {}
    assert decode(a_body("CREATE")).old() == {}


def test_each_copy_of_an_object_is_the_callers_own() -> None:
    review = decode(a_body())
    review.new()["spec"]["size"] = 7
    assert review.new() == a_thing()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param(b"", "cannot be read", id="empty"),
        pytest.param(b"kind: AdmissionReview\n", "cannot be read", id="YAML"),
        pytest.param(a_body()[:-9], "cannot be read", id="cut off"),
        pytest.param(a_body() + b"x", "cannot be read", id="more after the end"),
        pytest.param(b"\xef\xbb\xbf" + a_body(), "cannot be read", id="a byte order mark"),
        pytest.param(a_body().decode().encode("utf-16"), "cannot be read", id="UTF-16"),
        pytest.param(a_body().replace(b"ann", b"\xff"), "cannot be read", id="invalid UTF-8"),
        pytest.param(a_body().replace(b"ann", b"\x00"), "cannot be read", id="a NUL byte"),
        pytest.param(a_body().replace(b": 1", b": NaN"), "cannot be read", id="NaN"),
        pytest.param(a_body().replace(b": 1", b": Infinity"), "cannot be read", id="infinity"),
        pytest.param(a_body().replace(b": 1", b": 1e400"), "cannot be read", id="beyond a float"),
        pytest.param(
            a_body().replace(b": 1", b": " + b"9" * 5000), "beyond a 64-bit integer", id="digits"
        ),
        pytest.param(
            a_body().replace(b": 1", b": 9223372036854775808"),
            "beyond a 64-bit integer",
            id="an integer of more than 64 bits",
        ),
        pytest.param(a_body().replace(b"one", rb"\ud800"), "cannot be read", id="a lone surrogate"),
        pytest.param(
            a_body(object=a_thing(deep=nested(WITHIN + 1))), "nested deeper", id="65 levels deep"
        ),
        pytest.param(b"[" * 100_000, "nested deeper", id="100,000 levels, never closed"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, "nested deeper", id="100,000 levels"),
        pytest.param(
            a_body().replace(b": 1", b": " + b"[" * 100_000 + b"]" * 100_000),
            "nested deeper",
            id="100,000 levels inside a review",
        ),
        pytest.param(
            a_body().replace(b": 1", b": [" + b'{"a":1},' * 100_000 + b"1]"),
            "more keys",
            id="100,000 keys",
        ),
    ],
)
def test_what_is_no_json_is_refused(body: bytes, said: str) -> None:
    with pytest.raises(InvalidJson, match=said) as refused:
        decode(body)
    assert "\n" not in str(refused.value)


def test_a_review_may_be_64_levels_deep() -> None:
    decode(a_body(object=a_thing(deep=nested(WITHIN))))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param(b"[]", "no JSON object", id="a list"),
        pytest.param(b"{}", "apiVersion None, kind None is not served", id="nothing in it"),
        pytest.param(
            an_envelope(apiVersion="admission.k8s.io/v1beta1", request=a_request()),
            "'admission.k8s.io/v1beta1'.* is not served here; send an AdmissionReview of",
            id="another version",
        ),
        pytest.param(
            an_envelope(kind="ConversionReview", request=a_request()),
            "'ConversionReview' is not served",
            id="another kind",
        ),
        pytest.param(
            an_envelope(kind={"a": ["x" * 10_000]}, request=a_request()),
            "is not served",
            id="a kind that is no word",
        ),
        pytest.param(an_envelope(), "no request", id="no request"),
        pytest.param(an_envelope(request=[]), "no request", id="a request that is a list"),
        pytest.param(a_body(uid=None), "missing required field `uid`", id="no uid"),
        pytest.param(a_body(uid=""), "length >= 1 - at `\\$.request.uid`", id="an empty uid"),
        pytest.param(a_body(uid="u" * 254), "length <= 253", id="a uid too long to log"),
        pytest.param(
            a_body(uid=7), "got `int` - at `\\$.request.uid`", id="a uid that is a number"
        ),
        pytest.param(a_body("PATCH"), "'PATCH' - at `\\$.request.operation`", id="no operation"),
        pytest.param(a_body(dryRun=1), "got `int` - at `\\$.request.dryRun`", id="1 for true"),
        pytest.param(a_body(userInfo=None), "`userInfo`", id="no user"),
        pytest.param(a_body("CREATE", object=None), "CREATE needs it", id="a CREATE of nothing"),
        pytest.param(
            a_body("UPDATE", oldObject=None), "request.oldObject is missing", id="UPDATE of nothing"
        ),
        pytest.param(a_body("DELETE", oldObject=None), "DELETE needs it", id="DELETE of nothing"),
        pytest.param(a_body(object=[]), "request.object is no JSON object", id="a list to store"),
        pytest.param(a_body(oldObject="x"), "request.oldObject is no", id="a word that is stored"),
    ],
)
def test_what_is_no_review_is_refused(body: bytes, said: str) -> None:
    with pytest.raises(NotAReview, match=said) as refused:
        decode(body)
    assert len(str(refused.value)) < 400
    assert "\n" not in str(refused.value)


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=60), st.integers(0, 400), st.integers(0, 40))
def test_a_mangled_review_is_refused_or_read_and_nothing_else(
    junk: bytes, at: int, cut: int
) -> None:
    body = a_body("UPDATE")
    try:
        review = decode(body[:at] + junk + body[at + cut :])
    except Refused:
        return
    assert isinstance(review, Review)
    assert isinstance(review.new(), dict)


def test_an_allowed_review_says_just_that() -> None:
    assert answered(ALLOWED) == {"allowed": True}


def test_the_patch_is_what_the_handler_changed() -> None:
    after = a_thing(size=2, colour="red")
    response = answered(Allowed(object=after))
    assert patch(response) == [
        {"op": "replace", "path": "/spec/size", "value": 2},
        {"op": "add", "path": "/spec/colour", "value": "red"},
    ]


def test_an_object_that_did_not_change_gives_no_patch() -> None:
    assert answered(Allowed(object=a_thing())) == {"allowed": True}


def test_structs_tuples_and_raw_parts_of_an_object_are_plain_json_in_the_patch() -> None:
    class Port(msgspec.Struct):
        number: int

    after = a_thing(ports=(Port(80),), template=msgspec.Raw(b'{"a": [1]}'))
    assert [step["value"] for step in patch(answered(Allowed(object=after)))] == [
        [{"number": 80}],
        {"a": [1]},
    ]
    unchanged = answered(
        Allowed(object=after), object=a_thing(ports=[{"number": 80}], template={"a": [1]})
    )
    assert unchanged == {"allowed": True}


def test_warnings_lose_the_control_characters_that_would_lose_them() -> None:
    response = answered(Allowed(warnings=("two\nlines", "naïve")))
    assert response == {"allowed": True, "warnings": ["two lines", "naïve"]}


def test_a_denial_says_which_object_and_which_fields() -> None:
    verdict = invalid(
        Cause(field="spec.size", message="must be positive"),
        Cause(field="spec.colour", message="is required", reason="FieldValueRequired"),
        warnings=("beware",),
    )
    assert answered(verdict) == {
        "allowed": False,
        "status": {
            "status": "Failure",
            "code": 422,
            "reason": "Invalid",
            "message": "spec.size: must be positive; spec.colour: is required",
            "details": {
                "name": "one",
                "group": "example.com",
                "kind": "Thing",
                "causes": [
                    {
                        "field": "spec.size",
                        "message": "must be positive",
                        "reason": "FieldValueInvalid",
                    },
                    {
                        "field": "spec.colour",
                        "message": "is required",
                        "reason": "FieldValueRequired",
                    },
                ],
            },
        },
        "warnings": ["beware"],
    }


@pytest.mark.parametrize("code", [200, 301, 399, 500])
def test_a_denial_is_the_callers_fault(code: int) -> None:
    with pytest.raises(ValueError, match=f"cannot have code {code}"):
        Denied(message="no", code=code)


class Spec(msgspec.Struct):
    size: int


class Thing(msgspec.Struct):
    spec: Spec


def test_an_object_can_be_read_as_a_type() -> None:
    review = decode(a_body("UPDATE", object=a_thing(size=5)))
    assert review.new_as(Thing) == Thing(Spec(5))
    assert review.old_as(Thing) == Thing(Spec(1))


@pytest.mark.parametrize(
    ("stored", "cause"),
    [
        pytest.param(
            a_thing(size="big"),
            Cause(field="spec.size", message="Expected `int`, got `str`"),
            id="a field has another type",
        ),
        pytest.param(
            {"kind": "Thing"},
            Cause(field="", message="Object missing required field `spec`"),
            id="a field of the object is missing",
        ),
    ],
)
def test_an_object_that_does_not_fit_a_type_is_its_writers_fault(
    stored: dict[str, Any], cause: Cause
) -> None:
    with pytest.raises(Unfit) as unfit:
        decode(a_body(object=stored)).new_as(Thing)
    assert unfit.value.denied == invalid(cause)
