"""A server made with fastmcp: `python fastmcp-server.py stdio`, or `http PORT`, or `sse PORT`."""
import asyncio
import sys
from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel


class Tree(BaseModel):
    """A schema that refers to itself."""

    name: str
    children: list["Tree"] = []


server = FastMCP("toolbolt-test")


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool
def count_nodes(tree: Tree, extra: Any = None) -> dict[str, int]:
    """Counts the nodes of a tree."""
    def size(node: Tree) -> int:
        return 1 + sum(size(child) for child in node.children)

    return {"nodes": size(tree)}


@server.tool
async def work(steps: int, seconds: float, ctx: Context) -> str:
    """Works for a while and reports each step."""
    for step in range(1, steps + 1):
        await asyncio.sleep(seconds / steps)
        await ctx.report_progress(step, steps)
    return f"done in {steps} steps"


@server.tool
def refuse(why: str | None = None) -> str:
    """Always fails."""
    raise ToolError(f"refused: {why}")


if __name__ == "__main__":
    transport, *rest = sys.argv[1:]
    options = {} if transport == "stdio" else {"host": "127.0.0.1", "port": int(rest[0]), "log_level": "WARNING"}
    server.run(transport=transport, show_banner=False, **options)
