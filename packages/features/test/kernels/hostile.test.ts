/** Cells that write messages of their own, change the runner, or want more than the host has. */
import { describe, expect, test } from "vitest";
import { languages, openKernels } from "./kit.ts";

describe.each(languages)("a hostile cell of %s", (language) => {
  const isPython = language === "python";
  const choose = (python: string, javascript: string) => (isPython ? python : javascript);
  /** Code that sends lines to the host by itself, and continues. */
  const forge = (lines: readonly object[], rest: string) => {
    const text = JSON.stringify(lines.map((line) => JSON.stringify(line)));
    return choose(
      `import os\nfor line in ${text}:\n    os.write(4, line.encode() + b"\\n")\n${rest}`,
      `for (const line of ${text}) require("fs").writeSync(4, line + "\\n");\n${rest}`,
    );
  };
  const callTool = (id: unknown, scope: unknown, tool: string, params: object = {}) => ({
    type: "ToolCall",
    payload: { id, scope, from: "Python", tool, params },
  });

  test("answers nothing but itself, and reaches no other tool than the session has", async () => {
    const { run, events } = await openKernels({ files: { "a.txt": "x" } });
    await run(language, "1");
    // The ids of the host are known to the code. Answers for cells and calls that there are not have no effect.
    const forged = [
      { type: "Done", payload: { id: "c9", status: "ok", result: "forged" } },
      { type: "Invoked", payload: { id: "i1", value: "forged" } },
      { type: "Ready", payload: {} },
      { type: "Display", payload: { id: "c9", text: "shown" } },
      callTool(900_001, "c9", "read", { path: "a.txt" }),
      callTool(900_002, "c2", "change_files", { changes: [], reason: "" }),
      callTool(900_003, "c2", "eval", { language, code: "1" }),
      callTool(900_004, "c2", "nothing"),
      callTool(900_005, "c2", "ls"),
      callTool(900_005, "c2", "ls"),
    ];
    const cell = await run(language, forge(forged, "3"));
    expect(cell).toMatchObject({ isError: false, details: { result: "3" } });
    expect(cell.text).toBe("shown\n\n3");
    await expect
      .poll(() => events.flatMap((event) => (event.type === "tool_execution_start" ? [event.toolName] : [])))
      .toEqual(expect.arrayContaining(["ls"]));
    const started = events.flatMap((event) => (event.type === "tool_execution_start" ? [event.toolName] : []));
    for (const name of ["read", "change_files"]) expect(started).not.toContain(name);
    // An early end of its own cell gives nothing but that.
    const early = await run(
      language,
      forge([{ type: "Done", payload: { id: "c3", status: "ok", result: "early" } }], "4"),
    );
    expect(early.details.result).toBe("early");
    expect((await run(language, "5")).details.value).toBe(5);
  });

  test("gets bounded results, however much it sends", async () => {
    const { run } = await openKernels();
    const large = choose('"x" * 3000000', '"x".repeat(3000000)');
    const send = choose(
      `import os, json\ndef emit(kind, **payload):\n    data = (json.dumps({"type": kind, "payload": payload}) + "\\n").encode()\n    while data:\n        data = data[os.write(4, data):]\nlarge = ${large}`,
      `var emit = (type, payload) => { let data = Buffer.from(JSON.stringify({ type, payload }) + "\\n"); while (data.length) { try { data = data.subarray(require("fs").writeSync(4, data)); } catch (e) { if (e.code !== "EAGAIN") throw e; } } }; var large = ${large}; 0`,
    );
    await run(language, send);
    const shown = await run(
      language,
      choose(
        "for i in range(40): emit('Display', text=large)",
        "for (let i = 0; i < 40; i++) emit('Display', { text: large });",
      ),
    );
    expect(shown.text.length).toBeLessThan(60_000);
    const many = choose("for i in range(150): display(i)", "for (let i = 0; i < 150; i++) display(i);");
    expect((await run(language, many)).text).toContain(
      "[More values were displayed than a cell can show. Some are left out.]",
    );
    const failed = await run(
      language,
      choose(
        "emit('Done', id='c4', status='error', error={'traceback': large})",
        "emit('Done', { id: 'c4', status: 'error', error: { traceback: large } })",
      ),
    );
    expect(failed.text.length).toBeLessThan(60_000);
    expect(failed.isError).toBe(true);
    const deep = choose(
      `import os\nos.write(4, b'{"type":"Done","payload":{"id":"c5","status":"ok","value":' + b"[" * 20000 + b"]" * 20000 + b"}}\\n")`,
      `require("fs").writeSync(4, '{"type":"Done","payload":{"id":"c5","status":"ok","value":' + "[".repeat(20000) + "]".repeat(20000) + "}}\\n")`,
    );
    await run(language, deep);
    expect((await run(language, "6")).details.value).toBe(6);
    const endless = choose(
      "chunk = b'x' * 1000000\nwhile True: os.write(4, chunk)",
      "for (const chunk = Buffer.alloc(1000000, 'x'); ; ) { try { require('fs').writeSync(4, chunk); } catch (e) { if (e.code !== 'EAGAIN') throw e; } }",
    );
    const ended = await run(language, endless);
    expect(ended.text).toMatch(/^The kernel has ended: It sent a message of more than 16 MB\./);
  });

  test("is answered with values and errors that fail when they are read, and keeps its variables", async () => {
    const { run } = await openKernels();
    await run(language, choose("kept = 5", "var kept = 5;"));
    const values = isPython
      ? [
          "class Anything:\n    def __getattr__(self, name): return self\n    def __call__(self, *args): return self\n    def __iter__(self): return iter([])\n    def __int__(self): return 1\nAnything()",
          "'x' * (1 << 28)",
          "loop = []\nloop.append(loop)\nloop",
          "'a\\ud800b'",
        ]
      : [
          "new Proxy({}, { get() { throw 1; }, ownKeys() { throw 2; }, getPrototypeOf() { throw 3; } })",
          "{ const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); proxy }",
          "({ [Symbol.for('nodejs.util.inspect.custom')]() { throw new Error(); } })",
          "({ get a() { throw new Error(); }, toJSON() { throw new Error(); } })",
          "'a\\ud800b'",
        ];
    for (const code of values) {
      const cell = await run(language, code);
      expect(cell.isError, cell.text).toBe(false);
      expect(cell.details.result, code).toBeDefined();
    }
    const errors = isPython
      ? [
          "class Odd(Exception):\n    def __str__(self): raise ValueError()\nraise Odd()",
          "class Meta(type):\n    @property\n    def __name__(cls): raise ValueError()\nclass Odd(Exception, metaclass=Meta): pass\nraise Odd()",
          "class Odd:\n    def __repr__(self): raise SystemExit(3)\nOdd()",
        ]
      : [
          "throw new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 2; } })",
          "throw Object.defineProperty(new Error(), 'stack', { get() { throw 1; } })",
          "throw Object.assign(new Error(), { name: Symbol('x') })",
          "throw Object.assign(new Error(), { stack: { toString() { throw 1; } } })",
        ];
    for (const code of errors) {
      const cell = await run(language, code);
      expect(cell.details.status, cell.text).toBe("error");
    }
    expect((await run(language, "kept")).details.value).toBe(5);
  });

  test("that patches what the runner uses, or has no output left, is answered", async () => {
    const { run } = await openKernels();
    const patches = isPython
      ? [
          "import json\njson.dumps = json.loads = None\n1",
          "import os\nos.write = lambda *args: 0\nos.getpid = lambda: 1\n1",
          "import os, sys\nos.closerange(0, 3)\nsys.stdout = None\n1",
        ]
      : [
          "JSON.stringify = JSON.parse = () => 'forged'; require('fs').writeSync = () => 0; 1",
          "for (const fd of [0, 1, 2]) require('fs').closeSync(fd); console.log('x'); 1",
          "setTimeout(() => { throw new Error('later'); }); 1",
        ];
    for (const code of patches) expect((await run(language, code)).details.value, code).toBe(1);
    expect((await run(language, "2")).details.value).toBe(2);
    // More than that ends the kernel, and the cell is answered.
    const broken = choose("import builtins\nbuiltins.len = None\nbuiltins.str = None", "Array.prototype.push = null;");
    await run(language, broken);
    const after = await run(language, "3");
    expect([3, undefined]).toContain(after.details.value);
    expect((await run(language, "4", { reset: true })).details.value).toBe(4);
  });

  test("that changes what all code shares is answered, and so is the next one", { timeout: 240_000 }, async () => {
    const { run } = await openKernels();
    const all = (objects: string, replacement: string) =>
      `for (const object of [${objects}]) for (const name of Reflect.ownKeys(object)) if (!["constructor", "prototype", "globalThis"].includes(name)) try { object[name] = ${replacement}; } catch {}; 1`;
    const classes = [
      ..."Object Array Map Set Promise Function String RegExp Error Event EventTarget MessageEvent MessagePort".split(
        " ",
      ),
      ..."Uint8Array Object.getPrototypeOf(Uint8Array) require('events') require('net').Socket".split(" "),
      "require('inspector').Session",
    ].map((name) => `${name}.prototype`);
    const modules =
      "JSON Reflect Array Promise Buffer process require('fs') require('util') require('util').types globalThis";
    const patches = isPython
      ? [
          "import json\njson.dumps = json.loads = json.JSONEncoder.encode = json.decoder.JSONDecoder.decode = None\n1",
          "import json.encoder\njson.encoder.JSONEncoder.encode = lambda *a: 'forged'\n1",
          "import sys\nsys.modules['json'] = sys.modules['traceback'] = sys.modules['linecache'] = None\n1",
          "import sys\nsys.settrace(lambda *a: 1 / 0)\n1",
          "import sys\nsys.stdout = sys.stderr = None\n1",
          "import builtins\nbuiltins.len = builtins.str = builtins.getattr = builtins.repr = None\n1",
          "import builtins, sys\nsys.setrecursionlimit(50)\nbuiltins.__import__ = None\n1",
        ]
      : [
          all(classes.join(","), "() => { throw 1; }"),
          all(classes.join(","), "undefined"),
          all(modules.replaceAll(" ", ","), "() => { throw 1; }"),
          "Promise.prototype.then = () => {}; await 1; 1",
          "Array.prototype[Symbol.iterator] = undefined; 1",
          "Object.prototype.toJSON = () => 'forged'; 1",
          "Object.prototype.toJSON = () => { throw 1; }; 1",
          "Object.prototype.then = () => {}; 1",
          "for (const name of ['id', 'type', 'objectId']) Object.defineProperty(Object.prototype, name, { get: () => 'forged', set() {} }); 1",
          "Object.defineProperty(Object.prototype, 'exceptionDetails', { value: {} }); 1",
          "process.send = process.emit = process.nextTick = () => { throw 1; }; 1",
        ];
    for (const code of patches) {
      const cell = await run(language, code, { reset: true });
      expect(["ok", "error", "ended"], cell.text).toContain(cell.details.status);
      if (cell.details.status === "ended") expect(cell.text).toContain("[The kernel cannot continue: ");
      else expect((await run(language, "7")).details.value, code).toBe(7);
    }
  });

  test("whose values never end when they are shown is interrupted like one that loops itself", async () => {
    const { run } = await openKernels();
    await run(language, choose("kept = 5", "var kept = 5;"));
    const endless = isPython
      ? [
          "class Odd:\n    def __repr__(self):\n        while True: pass\nOdd()",
          "class Odd(Exception):\n    def __str__(self):\n        while True: pass\nraise Odd()",
          "class Odd(Exception):\n    @property\n    def __cause__(self):\n        while True: pass\nraise Odd()",
          "class Odd(dict):\n    def items(self):\n        while True: pass\nOdd(a=1)",
          "class Odd:\n    def flush(self):\n        while True: pass\nimport sys\nsys.stdout, out = Odd(), sys.stdout",
        ]
      : [
          "({ get a() { while (true); } })",
          "({ toJSON() { while (true); } })",
          "({ [Symbol.for('nodejs.util.inspect.custom')]() { while (true); } })",
          "new Proxy({}, { ownKeys() { while (true); } })",
          "throw new Proxy(new Error(), { get() { while (true); } })",
        ];
    for (const code of endless) {
      const cell = await run(language, code, { timeoutMs: 300 });
      expect(cell.text, code).toBe("The cell took longer than 300 ms and was interrupted.");
      const after = await run(language, choose("import sys\nsys.stdout = sys.__stdout__\nkept", "kept"), {
        timeoutMs: 60_000,
      });
      expect(after.details.value, code).toBe(5);
    }
  });

  test("that changes the runner harms only its own kernel", async () => {
    const { run } = await openKernels();
    const changes = choose(
      "import json, os, sys\njson.dumps = lambda *a, **k: 'forged'\n1",
      "JSON.stringify = () => 'forged'; Map.prototype.get = () => undefined; Buffer.from = () => { throw 1; }; 1",
    );
    const cell = await run(language, changes);
    expect(["ok", "ended"]).toContain(cell.details.status);
    const after = await run(language, "7", { reset: true });
    expect(after.details.value).toBe(7);
  });

  test("that shows a value which is deep and wide is answered with its start", async () => {
    const { run } = await openKernels();
    const code = choose(
      "value = [1] * 1000000\nfor index in range(800): value = [value]\ndisplay(value)",
      "let value = new Array(1000000).fill(1); for (let i = 0; i < 800; i++) value = [value]; display(value)",
    );
    const cell = await run(language, code);
    expect(cell.isError, cell.text.slice(0, 200)).toBe(false);
    expect(cell.text).toMatch(/^\[\n {2}\[\n[^]*… \[the rest of this value is not shown\]$/);
  });

  test("that puts another file in the place of its messages is answered, and waits for nothing", async () => {
    const { run } = await openKernels();
    const code = choose(
      'import os\nos.dup2(os.open("/dev/null", os.O_RDWR), 4)\nawait tool.ls()',
      'require("fs").closeSync(4); require("fs").openSync("/dev/null", "w"); await tool.ls()',
    );
    expect((await run(language, code)).details.status).toBe("ended");
    expect((await run(language, "8")).details.value).toBe(8);
  });

  test("that closes the descriptors of its messages is answered once", async () => {
    const { run } = await openKernels();
    for (const descriptor of [3, 4]) {
      const code = choose(`import os\nos.close(${descriptor})`, `require("fs").closeSync(${descriptor})`);
      const cell = await run(language, code);
      expect(cell.details.status).toBe("ended");
      expect(cell.text).toContain("[The kernel cannot continue: ");
      const next = await run(language, "8", { reset: true });
      expect(next.details.value).toBe(8);
    }
  });

  test("does not pass the descriptors of its messages on", async () => {
    const { run } = await openKernels();
    const list = choose(
      'import subprocess\nsubprocess.run(["ls", "/proc/self/fd"], capture_output=True, text=True, close_fds=False).stdout.split()',
      'require("child_process").execSync("ls /proc/self/fd").toString().trim().split("\\n")',
    );
    // `ls` has opened the directory itself.
    const { value } = (await run(language, list)).details;
    expect(value).not.toContain("4");
  });

  test("registers tools with bounded descriptions, and takes none from the other kernel", async () => {
    const { run, callTool } = await openKernels();
    const register = (name: string, description: string, parameters: string) =>
      forgeRegister({ name, description, parameters });
    const forgeRegister = ({ name, description, parameters }: Record<string, string>) =>
      choose(
        `import os, json\ndata = (json.dumps({"type": "Register", "payload": {"name": "${name}", "description": ${description}, "parameters": ${parameters}}}) + "\\n").encode()\nwhile data:\n    data = data[os.write(4, data):]\n1`,
        `{ let data = Buffer.from(JSON.stringify({ type: "Register", payload: { name: "${name}", description: ${description}, parameters: ${parameters} } }) + "\\n"); while (data.length) { try { data = data.subarray(require("fs").writeSync(4, data)); } catch (e) { if (e.code !== "EAGAIN") throw e; } } } 1`,
      );
    const text = choose('"unusual " + "x" * 3000000', '"unusual " + "x".repeat(3000000)');
    await run(
      language,
      register(
        "big",
        text,
        choose('{"type": "object", "x": "y" * 1000000}', '{ type: "object", x: "y".repeat(1000000) }'),
      ),
    );
    const search = await callTool("tool_search", { query: "unusual" });
    expect(search.text).toContain("kernel__big");
    expect(search.text.length).toBeLessThan(20_000);
    const odd = await run(language, register("a b", '""', "{}"));
    expect(odd.text).toContain("its name cannot be used");
    const wrong = await run(language, register("wrong", '""', choose('{"type": 3}', "{ type: 3 }")));
    expect(wrong.isError).toBe(false);
    for (let index = 0; index < 3; index++) expect((await run(language, "9")).details.value).toBe(9);
  });
});

test.skipIf(languages.length < 2)("a kernel cannot take a tool of the other one", async () => {
  const { run, callTool } = await openKernels();
  await run("python", 'register_tool("mine", lambda: "of Python")');
  const cell = await run("javascript", 'agentBridge.registerTool("mine", () => "of JavaScript")');
  expect(cell.text).toContain("The tool mine was not registered: the other kernel has one of this name.");
  expect((await callTool("call_tool", { name: "kernel__mine", arguments: {} })).text).toBe("of Python");
  await expect(run("python", 'register_tool("a b", print)')).resolves.toMatchObject({ isError: true });
  await run("python", "1", { reset: true });
  await run("javascript", 'agentBridge.registerTool("mine", () => "of JavaScript")');
  expect((await callTool("call_tool", { name: "kernel__mine", arguments: {} })).text).toBe("of JavaScript");
});
