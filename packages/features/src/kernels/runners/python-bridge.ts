/** The functions that cells of Python call: tools, the other kernel, models and sub-agents. */
export const bridge = String.raw`
class KernelError(Exception):
    """A call of the host that failed. kind says why, such as denied or unknown_tool."""
    def __init__(self, message, kind="failed"):
        super().__init__(message)
        self.kind = kind

async def ask(kind, **payload):
    loop = load("asyncio").get_running_loop()
    future = loop.create_future()
    state["next"] += 1
    key = state["next"]
    pending[key] = (loop, future)
    try:
        send(kind, id=key, scope=scope.get(), **payload)
        return await future
    finally:
        pending.pop(key, None)

def call_tool(name, params):
    return ask("ToolCall", **{"from": "Python", "tool": name, "params": params})

class Tools:
    """The tools of the session: await tool.grep(pattern="x")."""
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        def call(args=None, **more):
            return call_tool(name, {**(args or {}), **more})
        call.__name__ = name
        return call

class Kernel:
    """The connection of a bridge to the host."""
    async def rpc(self, address, **params):
        if not address.startswith("tool://"):
            raise ValueError("Unknown address: " + address)
        return await call_tool(address[len("tool://"):], params)

class AgentBridge:
    """Calls tools of the session, and keeps the tools of this kernel."""
    def __init__(self, kernel):
        self.kernel = kernel
        self._tool_registry = {}

    @classmethod
    def instance(cls):
        return agent_bridge

    def register_tool(self, name, handler):
        if self is agent_bridge and not (isinstance(name, str) and name.isidentifier() and name.isascii() and len(name) <= 51):
            raise ValueError("The name of a tool is at most 51 letters, digits and underscores.")
        self._tool_registry[name] = handler
        if self is agent_bridge:
            send("Register", name=name, description=(getattr(handler, "__doc__", None) or "")[:2000], parameters=describe(handler))

    async def invoke_tool(self, tool_name, params, meta=None):
        if tool_name not in self._tool_registry:
            raise ValueError(f"Unknown tool: {tool_name}")
        result = self._tool_registry[tool_name](**params)
        return await result if hasattr(result, "__await__") else result

def describe(handler):
    code = getattr(handler, "__code__", None)
    if code is None:
        return None
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    defaults = len(getattr(handler, "__defaults__", None) or ())
    needed = [name for name in code.co_varnames[: code.co_argcount - defaults] if name != "self"]
    return {"type": "object", "properties": {name: {} for name in names if name != "self"}, "required": needed}

agent_bridge = AgentBridge(Kernel())

async def grep(path, pattern, context=3, case_sensitive=False):
    """Searches files with the session's own search. Gives a list of {path, line, text, is_match}."""
    return await AgentBridge.instance().kernel.rpc(
        "tool://grep", path=path, pattern=pattern, context=context, case_sensitive=case_sensitive
    )

agent_bridge._tool_registry["grep"] = grep

async def invoke_tool(tool_name, params=None, meta=None):
    return await call_tool(tool_name, params or {})

async def js(code):
    return await ask("BunExec", code=code)

async def completion(prompt, options=None, **more):
    return await ask("Completion", prompt=prompt, options={**(options or {}), **more})

async def agent(prompt, options=None, **more):
    return await ask("Agent", prompt=prompt, options={**(options or {}), **more})
`;
