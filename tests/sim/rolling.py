# SPDX-License-Identifier: Apache-2.0
"""The stories of updates: rolled, left to people, switched, and everything else meanwhile.

Where updates are left to people, what is outdated in the end hangs on what was there by then.
"""

from __future__ import annotations

from functools import partial

from tests.sim.acts import (
    BY_HAND,
    NAME,
    RED,
    ROLLING,
    apply,
    child,
    decree,
    delete,
    lost,
    pod,
    resize,
    scale,
    story,
    switch,
    update,
    version,
)
from tests.sim.shapes import SHAPES, Shape
from tests.sim.story import Act, Story
from tests.unit.workloads.sets import a_clique, a_group
from trellis.api.labels import POD_CLIQUE, POD_GANG, POD_INDEX, POD_TEMPLATE_HASH

rolled = partial(story, updated=True)
QUICK = (("terminationDelay", "10s"),)
ROUTED = Shape(
    (a_clique("router", 1), a_clique("leader", 1), a_clique("worker", 2)),
    groups=(a_group("decode", "leader", "worker", replicas=2),),
    template=QUICK,
)
SMALL_GROUP = Shape((a_clique("worker", 1),), groups=(a_group("decode", "worker", replicas=2),))
_GROUPED = ("llm-0-router", "llm-0-decode-0-leader", "llm-0-decode-0-worker")
_PLACES = (POD_CLIQUE, POD_INDEX, POD_GANG)
_SECOND = ("llm-0-decode-1-leader", "llm-0-decode-1-worker")

ROLLOUTS: tuple[Story, ...] = (
    rolled("RU7: a clique is rolled", apply(SHAPES["slack"]), update(5, "worker")),
    rolled(
        "RU7: one replica of a set after the other",
        apply(SHAPES["single"], 2),
        update(5, "worker"),
    ),
    rolled(
        "RU9: groups of one replica of a set after those of the other",
        apply(SMALL_GROUP, 2),
        update(5, "worker"),
    ),
    rolled(
        "RU9: all cliques of a set with groups are rolled",
        apply(SHAPES["grouped"]),
        *(update(5, clique) for clique in ("router", "leader", "worker")),
    ),
    rolled(
        "RU8: one clique of a group is rolled with its replica",
        apply(SHAPES["grouped"]),
        update(5, "worker"),
        unharmed=("llm-0-router",),
    ),
    rolled(
        "a set that was never up is mended by an update",
        decree(0.5, "llm-0-worker", "pending", version(1)),
        apply(SHAPES["single"]),
        update(5, "worker"),
        child(40, "see_ready", "podcliques", "llm-0-worker"),
    ),
    rolled(
        "a change supersedes another that is being rolled",
        apply(SHAPES["slack"]),
        update(5, "worker", 2),
        update(5.4, "worker", 3),
    ),
    rolled(
        "an update is rolled back before it is over",
        apply(SHAPES["slack"], 2),
        update(5, "worker"),
        Act(5.4, "roll_back", {"namespace": RED, "name": NAME, "steps": 1}),
    ),
    rolled(
        "pods that lost the labels of their places are rolled",
        apply(SHAPES["slack"]),
        *(pod(5, "strip_pod", "llm-0-worker", i, key=key) for i, key in enumerate(_PLACES)),
        update(12, "worker"),
    ),
    rolled(
        "what an earlier update released is not released again",
        apply(SMALL_GROUP),
        update(5, "worker", 2),
        switch(20, BY_HAND),
        update(25, "worker", 3),
        *(pod(35, "kill_pod", f"llm-0-decode-{index}-worker", 0) for index in range(2)),
        update(45, "worker", 2),
        switch(55, ROLLING),
    ),
    rolled(
        "a gang falls while something else of its set is updated",
        apply(ROUTED),
        update(5, "worker"),
        decree(29, "llm-0-router", "unready", version(2)),
        update(30, "router"),
        *lost(40, 80, ("llm-0-decode-1-worker", 0)),
        fallen=("llm-0-decode-1-leader", "llm-0-decode-1-worker"),
    ),
    rolled(
        "a pod that lost what it was made from is rolled",
        apply(SHAPES["slack"]),
        pod(5, "strip_pod", "llm-0-worker", 0, key=POD_TEMPLATE_HASH),
        update(12, "worker"),
    ),
    rolled(
        "a pod goes out of sight whose PodClique was made anew",
        apply(SHAPES["single"]),
        child(5, "delete_child", "podcliques", "llm-0-worker"),
        update(20, "worker"),
        pod(20.6, "strip_pod", "llm-0-worker", 0),
    ),
    rolled(
        "a replica of a group is waited for after an update is rolled back",
        apply(SMALL_GROUP, 2),
        decree(4.9, "llm-0-decode-1-worker", "pending"),
        update(5, "worker"),
        Act(8, "roll_back", {"namespace": RED, "name": NAME, "steps": 1}),
        decree(30, "llm-0-decode-1-worker", "ready"),
    ),
    rolled(
        "a pod dies that is yet to be rolled",
        apply(SHAPES["grouped"]),
        update(5, "worker"),
        pod(5.2, "kill_pod", "llm-0-decode-0-worker", 0),
    ),
    rolled(
        "RU10: a new pod does not come up for a while",
        apply(SHAPES["slack"]),
        decree(4.9, "llm-0-worker", "unready"),
        update(5, "worker"),
        decree(12, "llm-0-worker", "ready"),
    ),
    rolled(
        "RU11: a set grows while it is rolled",
        apply(SHAPES["single"]),
        update(5, "worker"),
        resize(5.2, 2),
    ),
    rolled(
        "RU12: a set shrinks while it is rolled",
        apply(SHAPES["single"], 2),
        update(5, "worker"),
        resize(5.2, 1),
    ),
    rolled(
        "RU14, RU16: a group grows and shrinks while it is rolled",
        apply(SHAPES["wide"]),
        update(5, "worker"),
        scale(5.2, "podcliquescalinggroups", "llm-0-prefill", 4),
        scale(6.8, "podcliquescalinggroups", "llm-0-prefill", 2),
    ),
    rolled(
        "RU18, RU20: a clique grows and shrinks while it is rolled",
        apply(SHAPES["slack"]),
        update(5, "worker"),
        scale(5.2, "podcliques", "llm-0-worker", 5),
        scale(6.8, "podcliques", "llm-0-worker", 2),
    ),
    rolled(
        "a set is deleted while it is rolled",
        apply(SHAPES["grouped"]),
        update(5, "worker"),
        delete(5.3),
    ),
    rolled(
        "a child is deleted while it is rolled",
        apply(SHAPES["grouped"]),
        update(5, "worker"),
        child(5.3, "delete_child", "podcliques", "llm-0-decode-0-worker"),
        child(5.5, "delete_child", "podgangs", "llm-0"),
    ),
    rolled(
        "OD1, OD4: under OnDelete a change kills nobody",
        apply(SHAPES["grouped"]),
        switch(4, BY_HAND),
        *(update(5, clique) for clique in ("router", "leader", "worker")),
        unharmed=(*_GROUPED, *_SECOND),
        racing=True,
    ),
    rolled(
        "OD2: under OnDelete what people delete comes back new",
        apply(SHAPES["slack"]),
        switch(4, BY_HAND),
        update(5, "worker"),
        *(pod(20 + index, "kill_pod", "llm-0-worker", index) for index in range(3)),
        unharmed=("llm-0-worker",),
        pods={"red/llm-0-worker Running 2": 3},
        racing=True,
    ),
    rolled(
        "OD3: under OnDelete a clique grows and shrinks",
        apply(SHAPES["slack"]),
        switch(4, BY_HAND),
        update(5, "worker"),
        scale(20, "podcliques", "llm-0-worker", 5),
        scale(35, "podcliques", "llm-0-worker", 2),
        pods={"red/llm-0-worker Running 2": 2},
        racing=True,
    ),
    rolled(
        "what OnDelete left is rolled after a switch",
        apply(SHAPES["grouped"]),
        switch(4, BY_HAND),
        update(5, "router"),
        update(5, "worker"),
        switch(8, ROLLING),
    ),
    rolled(
        "OD6: under OnDelete one of each is deleted after a change of all",
        apply(SHAPES["grouped"]),
        switch(4, BY_HAND),
        *(update(5, clique) for clique in ("router", "leader", "worker")),
        pod(7, "kill_pod", "llm-0-router", 0),
        pod(8, "kill_pod", "llm-0-decode-0-worker", 1),
        unharmed=(*_GROUPED, *_SECOND),
        racing=True,
    ),
    rolled(
        "OD7: under OnDelete no replica of a set is touched",
        apply(SHAPES["single"], 2),
        switch(4, BY_HAND),
        update(5, "worker"),
        unharmed=("llm-0-worker", "llm-1-worker"),
        racing=True,
    ),
    rolled(
        "OD9: from OnDelete to RollingRecreate and back",
        apply(SHAPES["slack"]),
        switch(4, BY_HAND),
        update(5, "worker", 2),
        switch(20, ROLLING),
        switch(60, BY_HAND),
        update(75, "worker", 3),
        pods={"red/llm-0-worker Running 2": 3},
        racing=True,
    ),
    rolled(
        "a group replica is deleted by hand under OnDelete",
        apply(SHAPES["grouped"]),
        switch(4, BY_HAND),
        update(5, "worker"),
        *(child(7, "delete_child", "podcliques", name) for name in _SECOND),
        unharmed=_GROUPED,
        racing=True,
    ),
    rolled(
        "a switch to OnDelete ends what is being rolled",
        apply(SHAPES["slack"], 2),
        update(5, "worker"),
        switch(5.3, BY_HAND),
        racing=True,
    ),
)
