import { maxMessageBytes } from "../messages.ts";

/** Messages and interrupts of a Python kernel: descriptors, the thread that reads, and signals. */
export const messages = String.raw`
import builtins, sys, os, _thread, _queue, _signal, _contextvars, fcntl, select
# Cells may change modules.
from posix import read as read_bytes, write as write_bytes, fstat, getpid, _exit
from _thread import get_ident

PID, MAIN = getpid(), get_ident()
IN, OUT = 3, 4
os.set_inheritable(IN, False)
os.set_inheritable(OUT, False)
MAX_TEXT, MAX_VALUE, MAX_PNG, MAX_ROWS, MAX_COLUMNS, MAX_CELLS = 200000, 4000000, 5000000, 100, 50, 200000
MAX_MESSAGE = ${maxMessageBytes}
PNG = b"\x89PNG\r\n\x1a\n"
module = type(sys)("__main__")
module.__builtins__ = builtins
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
state = {"cell": None, "user": False, "next": 0, "loop": None, "count": 0, "reading": False, "writing": False, "interrupted": False, "left": 0}

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

def load_own(package):
    """Loads modules of which cells have others: what they change there has no effect here."""
    def take():
        return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == package}
    kept = take()
    try:
        return load(package)
    finally:
        take()
        sys.modules.update(kept)

def fail(error):
    """Ends the kernel, which cannot answer any more."""
    try:
        write_bytes(2, ("[The kernel cannot continue: a cell has changed what it needs (%s).]\n" % type(error).__name__).encode())
    finally:
        _exit(1)

def identify(descriptor):
    status = fstat(descriptor)
    return (status.st_dev, status.st_ino)

FILES = identify(IN), identify(OUT)

def check_descriptors():
    try:
        # What another file gets never arrives, and what it sends is no message: the host would wait for ever.
        if (identify(IN), identify(OUT)) == FILES:
            return
    except OSError:
        pass
    raise OSError("A descriptor of messages was closed or replaced.")

def write(data):
    is_main = get_ident() == MAIN
    with writing:
        check_descriptors()
        # The host understands nothing after a part of a message: an interrupt waits for its end.
        state["writing"] = is_main
        view = memoryview(data)
        while view:
            view = view[write_bytes(OUT, view):]
        state["writing"] = False
    if is_main:
        raise_late()

def send(kind, **payload):
    # NaN is no JSON.
    text = get_json().dumps({"type": kind, "payload": payload}, default=simple, allow_nan=False)
    data = text.encode("utf-8", "replace") + b"\n"
    if len(data) > MAX_MESSAGE:
        raise KernelError("A call has at most 16 MB. Write large values to a file, and pass its path.", "invalid_arguments")
    write(data)

def get_json():
    if "json" not in state:
        state["json"] = load_own("json")
    return state["json"]

def on_interrupt(signum, frame):
    if state["reading"] or state["writing"]:
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
    try:
        poll = select.poll()
        poll.register(IN, select.POLLIN)
        while True:
            poll.poll()
            with reading:
                for message in take_messages():
                    receive(message)
    except BaseException as error:
        fail(error)

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
    raise_late()

def raise_late():
    if state["interrupted"] and not state["writing"]:
        state["interrupted"] = False
        on_interrupt(None, None)

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
`;
