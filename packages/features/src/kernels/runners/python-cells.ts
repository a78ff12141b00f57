/** Runs the cells and the registered functions of a Python kernel. */
export const cells = String.raw`
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
    except KeyboardInterrupt:
        raise
    except BaseException:
        message = "<its text cannot be read>"
    try:
        text = format_error(error)
    except KeyboardInterrupt:
        raise
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
        except KeyboardInterrupt:
            raise
        except BaseException:
            pass

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
            answer = evaluate_cell(source, name)
            # An output that a cell has put in the place of ours is its code too.
            flush()
        finally:
            state["user"] = False
    except KeyboardInterrupt:
        answer = {"status": "interrupted"}
        repair_imports()
    finally:
        state["user"] = False
        state["cell"] = None
        scope.reset(token)
        shown_figures.clear()
    if getpid() != PID:
        _exit(0)
    send("Done", id=key, **answer)

def evaluate_cell(source, name):
    """Gives what the host gets. To write values and errors as text is to run code of the cell: it can be interrupted."""
    try:
        value = run_cell(source, name)
        show_figures(value)
        if value is None:
            return {"status": "ok"}
        module.__dict__["_"] = value
        data = to_json(value)
        return {"status": "ok", "value": data, **({} if show(value, True) else {"result": to_text(value)})}
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return {"status": "error", "error": describe_error(error)}

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
    except BaseException as error:
        fail(error)
`;
