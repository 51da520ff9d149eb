import asyncio, sys, json
from collections import Counter
from tests.support.virtual import run
from tests.unit.workloads.rolling.show import *


async def main():
    async with a_show(wl(2)) as show:
        await show.edit("a", "b")
        for _ in range(120):
            await asyncio.sleep(1)
            s = (await show.set())["status"]
            g = (await show.group())["status"]
            print(
                _,
                s.get("updateProgress"),
                s["updatedReplicas"],
                s["availableReplicas"],
                g.get("updateProgress", {}),
                g["updatedReplicas"],
                len(await show.outdated()),
            )
            if s.get("updateProgress", {}).get("updateEndedAt"):
                break
        await asyncio.sleep(10)
        s = await show.set()
        print(json.dumps(s["status"], indent=1))
        print(json.dumps((await show.group())["status"], indent=1))
        print(json.dumps((await show.clique("llm-0-x-1-b")), indent=1))
        print(show.nodes.least, show.nodes.born, show.nodes.gone)
        for e in await show.stage.events():
            print(e)


run(main())
