import { maxMessageBytes } from "../messages.ts";

/**
 * The program of a Python kernel, which `python3 -c` runs. It reads messages from descriptor 3 and writes them to descriptor 4.
 * Only modules in C that cost nothing are imported at the start; `json` comes with the first message, `asyncio` with the first
 * `await`. Works with Python 3.9 and newer.
 */
export const pythonRunner = String.raw`
import sys, os, _thread, _queue, _signal, _contextvars, fcntl, select
# Cells may change modules.
from posix import read as read_bytes, write as write_bytes, fstat, getpid, _exit

PID, MAIN = getpid(), _thread.get_ident()
IN, OUT = 3, 4
os.set_inheritable(IN, False)
os.set_inheritable(OUT, False)
MAX_TEXT, MAX_VALUE, MAX_PNG, MAX_ROWS, MAX_COLUMNS, MAX_CELLS = 200000, 4000000, 5000000, 100, 50, 200000
MAX_MESSAGE = ${maxMessageBytes}
PNG = b"\x89PNG\r\n\x1a\n"
module = type(sys)("__main__")
module.__builtins__ = __builtins__
sys.modules["__main__"] = module
scope = _contextvars.ContextVar("scope", default=None)
work = _queue.SimpleQueue()
invokes = _queue.SimpleQueue()
writing, reading, choosing = _thread.allocate_lock(), _thread.allocate_lock(), _thread.RLock()
pending, sources, shown_figures, unread = {}, {}, [], []
# What was interrupted before it has begun.
early = set()
# The calls of functions that run beside a cell or another function.
tasks = {}
state = {"cell": None, "user": False, "next": 0, "loop": None, "count": 0, "reading": False, "interrupted": False, "left": 0}

def load(name):
    loaded = sys.modules.get(name)
    if loaded is not None:
        return loaded
    # A file of the project must not take the place of a module of the standard library here.
    kept = sys.path[:]
    try:
        sys.path[:] = [path for path in kept if path not in ("", os.getcwd())]
        __import__(name)
    finally:
        sys.path[:] = kept
    return sys.modules[name]

def identify_output():
    status = fstat(OUT)
    return (status.st_dev, status.st_ino)

OUTPUT = identify_output()

def write(data):
    with writing:
        # What another file gets in its place never arrives, and the host would wait for ever.
        if identify_output() != OUTPUT:
            raise OSError("The descriptor of messages has another file.")
        view = memoryview(data)
        while view:
            view = view[write_bytes(OUT, view):]

def send(kind, **payload):
    # NaN is no JSON.
    text = get_json().dumps({"type": kind, "payload": payload}, default=simple, allow_nan=False)
    data = text.encode("utf-8", "replace") + b"\n"
    if len(data) > MAX_MESSAGE:
        raise KernelError("A call has at most 16 MB. Write large values to a file, and pass its path.", "invalid_arguments")
    write(data)

def get_json():
    if "json" not in state:
        json = load("json")
        state["json"] = type(sys)("json")
        state["json"].dumps, state["json"].loads = json.dumps, json.loads
    return state["json"]

def simple(value):
    if hasattr(value, "columns") and hasattr(value, "shape"):
        return to_records(value)
    size = getattr(value, "size", 0)
    if isinstance(size, int) and size > MAX_CELLS:
        raise TypeError("not JSON: too large")
    for name in ("tolist", "item", "isoformat"):
        method = getattr(value, name, None)
        if callable(method):
            return method()
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise TypeError("not JSON: " + type(value).__name__)

def to_records(frame):
    if frame.shape[0] * frame.shape[1] > MAX_CELLS:
        raise TypeError("not JSON: too large")
    if hasattr(frame, "to_dicts"):
        return frame.to_dicts()
    # Its own JSON has null where a value is missing.
    return get_json().loads(frame.to_json(orient="records", date_format="iso"))

def to_json(value):
    json = get_json()
    # Writing a value as JSON that is too long anyway may take minutes.
    if type(value) in SEQUENCES and len(value) > MAX_VALUE:
        return None
    try:
        text = json.dumps(value, default=simple, allow_nan=False)
    except Exception:
        return None
    return None if len(text) > MAX_VALUE else json.loads(text)

SEQUENCES = (str, bytes, bytearray, list, tuple)

def to_text(value):
    # The start of a sequence is all of its text that is shown.
    is_long = type(value) in SEQUENCES and len(value) > MAX_TEXT
    return repr(value[:MAX_TEXT] if is_long else value)[:MAX_TEXT]

def on_interrupt(signum, frame):
    if state["reading"]:
        state["interrupted"] = True
    elif getpid() != PID or state["user"]:
        state["left"] -= 1
        # An interrupt of the host is two signals.
        if state["left"] != 0:
            raise KeyboardInterrupt

_signal.signal(_signal.SIGINT, on_interrupt)

def after_fork():
    # Only the kernel itself talks to the host.
    for descriptor in (IN, OUT):
        try:
            os.close(descriptor)
        except OSError:
            pass

os.register_at_fork(after_in_child=after_fork)

def take_messages():
    messages = []
    while True:
        try:
            data = read_bytes(IN, 65536)
        except BlockingIOError:
            return messages
        except OSError:
            data = b""
        if not data:
            _exit(0)
        *lines, rest = data.split(b"\n")
        for line in lines:
            messages.append(get_json().loads(b"".join(unread) + line))
            unread.clear()
        unread.append(rest)

def read_messages():
    poll = select.poll()
    poll.register(IN, select.POLLIN)
    while True:
        poll.poll()
        with reading:
            for message in take_messages():
                receive(message)

def on_input(signum, frame):
    # Code in C such as re keeps the lock of the interpreter, which the thread that reads needs, but lets signals in.
    if getpid() != PID or state["reading"]:
        return
    state["reading"] = True
    try:
        if reading.acquire(True, 1):
            try:
                for message in take_messages():
                    receive(message)
            finally:
                reading.release()
    finally:
        state["reading"] = False
    if state["interrupted"]:
        state["interrupted"] = False
        on_interrupt(signum, frame)

def watch_input():
    flags = fcntl.fcntl(IN, fcntl.F_GETFL)
    fcntl.fcntl(IN, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    try:
        _signal.signal(_signal.SIGIO, on_input)
        _signal.siginterrupt(_signal.SIGIO, False)
        fcntl.fcntl(IN, fcntl.F_SETOWN, PID)
        fcntl.fcntl(IN, fcntl.F_SETFL, flags | os.O_NONBLOCK | os.O_ASYNC)
    except (AttributeError, OSError):
        # Interrupts then wait for code in C to end.
        pass

def interrupt():
    state["left"] = 2
    # The whole group, because a program that the cell waits for has to end too.
    (os.killpg if os.getpgrp() == PID else os.kill)(PID, _signal.SIGINT)
    # A signal to the process may go to another thread, and wake nobody.
    _signal.pthread_kill(MAIN, _signal.SIGINT)

def begin(key):
    """Says whether it was not interrupted before it began."""
    with choosing:
        state.update(cell=key, left=0, interrupted=False)
        return key not in early

def receive(message):
    kind, payload = message["type"], message["payload"]
    if kind == "Interrupt":
        with choosing:
            is_running = state["cell"] == payload["id"]
            if not is_running:
                early.add(payload["id"])
        task, loop = tasks.get(payload["id"]), state["loop"]
        if is_running or (task and load("asyncio").current_task(loop) is task):
            interrupt()
        elif task:
            loop.call_soon_threadsafe(task.cancel)
    elif kind in ("ToolResult", "BunResult", "PythonResult"):
        waiting = pending.pop(payload["id"], None)
        if waiting:
            loop, future = waiting
            loop.call_soon_threadsafe(settle, future, payload["result"])
    elif kind == "Invoke":
        invokes.put(payload)
        work.put(None)
        loop = state["loop"]
        if loop and loop.is_running():
            loop.call_soon_threadsafe(start_invokes)
    else:
        work.put(payload)

def settle(future, result):
    if future.done():
        return
    if "error" in result:
        future.set_exception(KernelError(result["error"].get("message", ""), result["error"].get("kind", "failed")))
    else:
        future.set_result(result.get("value"))

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

def to_png(value):
    if isinstance(value, (bytes, bytearray)):
        return bytes(value) if value.startswith(PNG) else None
    if is_figure(value):
        return save_png(lambda buffer: value.savefig(buffer, format="png", bbox_inches="tight"))
    if type(value).__module__.startswith("PIL.") and callable(getattr(value, "convert", None)):
        # PNG does not have every mode that an image can have.
        known = value if value.mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I") else value.convert("RGB")
        return save_png(lambda buffer: known.save(buffer, format="PNG"))
    png = getattr(value, "_repr_png_", None)
    data = png() if callable(png) else None
    return data if isinstance(data, bytes) and data.startswith(PNG) else None

def is_figure(value):
    return type(value).__name__ == "Figure" and callable(getattr(value, "savefig", None))

def save_png(save):
    buffer = load("io").BytesIO()
    save(buffer)
    return buffer.getvalue()

def to_table(value):
    columns = getattr(value, "columns", None)
    if columns is None or type(getattr(value, "shape", None)) is not tuple:
        return None
    if hasattr(value, "itertuples"):
        rows = value.head(MAX_ROWS).itertuples(index=True)
        names = [""] + [str(name) for name in columns]
    elif hasattr(value, "iter_rows"):
        rows, names = value.head(MAX_ROWS).iter_rows(), [str(name) for name in columns]
    else:
        return None
    more = len(names) - MAX_COLUMNS
    last = ["\u2026 (%d more columns)" % more] if more > 0 else []
    return {
        "columns": [name[:200] for name in names[:MAX_COLUMNS]] + last,
        "rows": [[str(cell)[:200] for cell in list(row)[:MAX_COLUMNS]] + ["\u2026" for _ in last] for row in rows],
        "total": int(value.shape[0]),
    }

def show(value, is_result=False):
    """Sends an image or a table. Says whether the value was one."""
    if is_figure(value):
        shown_figures.append(value)
    try:
        png = to_png(value)
        table = None if png else to_table(value)
    except Exception as error:
        png, table = None, None
        if not is_result:
            print("display:", error, file=sys.stderr)
    if png and len(png) > MAX_PNG:
        print("[An image of %d bytes is too large to be shown.]" % len(png))
        return True
    if png:
        send("Display", id=scope.get(), png=load("base64").b64encode(png).decode())
        return True
    if table:
        send("Display", id=scope.get(), table=table)
        return True
    return False

def display(*values):
    flush()
    for value in values:
        if show(value):
            continue
        data = to_json(value) if isinstance(value, (dict, list, tuple)) else None
        if data is not None:
            send("Display", id=scope.get(), json=data)
        else:
            text = value[:MAX_TEXT] if isinstance(value, str) else to_text(value)
            send("Display", id=scope.get(), text=text)

def show_figures(result):
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        # Each is shown once: by the cell itself, here, or as the result.
        if figure is not result and not any(figure is shown for shown in shown_figures):
            show(figure)
    pyplot.close("all")

def run_async(coroutine):
    asyncio = load("asyncio")
    if state["loop"] is None:
        state["loop"] = asyncio.new_event_loop()
        asyncio.set_event_loop(state["loop"])
    loop = state["loop"]
    task = loop.create_task(coroutine)
    try:
        loop.call_soon(start_invokes)
        return loop.run_until_complete(task)
    except KeyboardInterrupt:
        task.cancel()
        loop.run_until_complete(asyncio.wait([task], timeout=1))
        raise

def run_code(code):
    value = eval(code, module.__dict__)
    return run_async(value) if code.co_flags & 0x80 else value

def run_cell(source, name):
    import _ast
    flags = 0x2000
    tree = compile(source, name, "exec", flags | 0x400)
    last = None
    if tree.body and isinstance(tree.body[-1], _ast.Expr):
        last = tree.body.pop()
    if tree.body:
        run_code(compile(tree, name, "exec", flags))
    return None if last is None else run_code(compile(_ast.Expression(last.value), name, "eval", flags))

def describe_error(error):
    # Exceptions of cells may fail when they are read.
    name = type.__dict__["__name__"].__get__(type(error))
    try:
        message = str(error)[:MAX_TEXT]
    except BaseException:
        message = "<its text cannot be read>"
    try:
        text = format_error(error)
    except BaseException:
        text = name + ": " + message
    return {"name": name, "message": message, "traceback": text}

def format_error(error):
    traceback, linecache = load("traceback"), load("linecache")
    for cell, source in sources.items():
        linecache.cache[cell] = (len(source), None, source.splitlines(True), cell)
    trace = error.__traceback__
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("<cell "):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace))[-20000:]

def repair_imports():
    # A package whose import was interrupted cannot be imported again as long as its modules are there.
    for name in list(sys.modules):
        if "." in name and name.partition(".")[0] not in sys.modules:
            del sys.modules[name]

def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass

def finish(key, **payload):
    flush()
    if getpid() != PID:
        _exit(0)
    send("Done", id=key, **payload)

def do_cell(payload):
    key, source = payload["id"], payload["code"]
    state["count"] += 1
    name = "<cell %d>" % state["count"]
    sources[name] = source
    if len(sources) > 50:
        del sources[next(iter(sources))]
    token = scope.set(key)
    answer = {}
    try:
        try:
            if not begin(key):
                raise KeyboardInterrupt
            state["user"] = True
            value = run_cell(source, name)
            show_figures(value)
            if value is not None:
                module.__dict__["_"] = value
                answer = {"value": to_json(value)}
                if not show(value, True):
                    answer["result"] = to_text(value)
        finally:
            state["user"] = False
        answer["status"] = "ok"
    except KeyboardInterrupt:
        answer = {"status": "interrupted"}
        repair_imports()
    except BaseException as error:
        answer = {"status": "error", "error": describe_error(error)}
    finally:
        state["user"] = False
        state["cell"] = None
        scope.reset(token)
        shown_figures.clear()
    value = None
    finish(key, **answer)

async def invoke(payload):
    # A task that is cancelled between its making and its first step is cancelled after that step, which may never end.
    if payload["id"] in early:
        return refuse_invoke(payload["id"])
    scope.set(payload["id"])
    try:
        value = await agent_bridge.invoke_tool(payload["name"], payload.get("params") or {}, {})
        answer = {"value": to_json(value)}
        if answer["value"] is None and value is not None:
            answer["value"] = str(value)[:MAX_TEXT]
    except KeyboardInterrupt:
        if payload["id"] not in tasks:
            raise
        return refuse_invoke(payload["id"])
    except BaseException as error:
        answer = {"error": {"message": describe_error(error)["message"], "kind": "failed"}}
    flush()
    send("Invoked", id=payload["id"], **answer)

def start_invokes():
    while True:
        try:
            payload = invokes.get_nowait()
        except _queue.Empty:
            return
        key = payload["id"]
        if key in early:
            refuse_invoke(key)
            continue
        tasks[key] = state["loop"].create_task(invoke(payload))
        tasks[key].add_done_callback(lambda task, key=key: tasks.pop(key, None))

def refuse_invoke(key):
    send("Invoked", id=key, error={"message": "It was interrupted.", "kind": "aborted"})

def do_invokes():
    while True:
        try:
            payload = invokes.get_nowait()
        except _queue.Empty:
            return
        try:
            if not begin(payload["id"]):
                raise KeyboardInterrupt
            state["user"] = True
            run_async(invoke(payload))
        except KeyboardInterrupt:
            refuse_invoke(payload["id"])
        finally:
            state["user"] = False
            state["cell"] = None

def finish_tasks():
    """Runs functions on that have begun beside a cell which is over, until there is something else to do."""
    try:
        while tasks and work.empty():
            state["user"] = True
            state["loop"].run_until_complete(load("asyncio").wait(list(tasks.values()), timeout=0.05))
    finally:
        state["user"] = False

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
sys.argv = [""]
for value in (display, js, completion, agent, grep, invoke_tool, AgentBridge, KernelError, agent_bridge):
    module.__dict__[getattr(value, "__name__", "agent_bridge")] = value
module.__dict__["tool"] = Tools()
module.__dict__["kernel"] = agent_bridge.kernel
module.__dict__["register_tool"] = agent_bridge.register_tool
watch_input()
_thread.start_new_thread(read_messages, ())
write(b'{"type":"Ready","payload":{}}\n')
while True:
    try:
        finish_tasks()
        payload = work.get()
        if payload is None:
            do_invokes()
        else:
            do_cell(payload)
    except KeyboardInterrupt:
        pass
    except OSError:
        # Without its descriptors the kernel cannot answer.
        _exit(1)
`;
