# SPDX-License-Identifier: Apache-2.0
"""CEL as Kubernetes 1.36 has it, for rules of custom resources, admission and device selectors.

    environment = cel.rules(schema)                       # keep it: compiled programs hang on it
    program = cel.compile("self.min <= self.max", environment)
    program.evaluate({"self": {"min": 1, "max": 2}})      # True

The parser is a library's, and this room must never grow one of its own. Three were tried, as they
come: how many of the 29 rules of the golden `cel_libraries` run at all, and how long one rule of
four conditions takes over an object of 60 parts (CPython 3.11, a shared machine):

| library                           | rules | one evaluation | what decided                       |
|-----------------------------------|-------|----------------|------------------------------------|
| cel-expr-python 0.1.3 (C++)       |    18 |         118 µs | the server's grammar and messages  |
| common-expression-language 0.10.0 |     7 |       2,700 µs | no `.?x`, no types, no parsed tree |
| cel-python 0.5.0 (lark)           |     7 |       2,700 µs | no `.?x`, other messages           |

cel-expr-python (Google; wheels for 3.11 to 3.14 on x86-64 and arm64, no dependencies) parses, with
the API server's own words for what does not parse. None of the three can type objects by a schema,
estimate costs, or look into a plain dict without copying all of it. So its parsed expression is
checked against declared types, priced and compiled to closures here: the same evaluation takes
6 µs, a simple rule 1.4 µs, compiling about 1 ms. Against the server's own Go code, 6,000 rules made
at random agree in message, estimated cost and value but for about 1 %: overflow that Go lets wrap,
the order of maps that Go leaves to chance, and these.

Known to differ: the library refuses nesting deeper than 32 (the server: 250); a list of a schema
compared with what is no list is unequal here, an error there; a conversion of what is constant but
no literal fails at evaluation here, at compilation there; what runs is metered at nearly the
server's prices, comparing and writing whole trees above them.

Both libraries load at the first compile (18 MB) and the first regular expression (1 MB).
"""

from trellis.cel.authorizing import (
    Authorizer,
    Decision,
    GroupCheck,
    PathCheck,
    Query,
    ResourceCheck,
)
from trellis.cel.environment import (
    Environment,
    admission,
    cardinality,
    device,
    devices,
    rules,
)
from trellis.cel.problems import BudgetSpent, CompileProblem, EvaluationProblem
from trellis.cel.program import PER_CALL_LIMIT, Meter, Program, compile, compiled
from trellis.cel.values import NOTHING, Optional, some

__all__ = [
    "NOTHING",
    "PER_CALL_LIMIT",
    "Authorizer",
    "BudgetSpent",
    "CompileProblem",
    "Decision",
    "Environment",
    "EvaluationProblem",
    "GroupCheck",
    "Meter",
    "Optional",
    "PathCheck",
    "Program",
    "Query",
    "ResourceCheck",
    "admission",
    "cardinality",
    "compile",
    "compiled",
    "device",
    "devices",
    "rules",
    "some",
]
