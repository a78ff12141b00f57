/** Cells in both languages: results, state, output, errors. */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasSandbox, languages, openKernels } from "./kit.ts";

/** The smallest image there is. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe.each(languages)("a cell of %s", (language) => {
  const isPython = language === "python";
  const choose = (python: string, javascript: string) => (isPython ? python : javascript);

  test("gives its last expression, and keeps variables, functions and imports", async () => {
    const { run } = await openKernels();
    const first = await run(
      language,
      choose(
        "import math\nx = 20\ndef twice(n):\n    return 2 * n\nx + 1",
        'import { basename } from "node:path"\nlet x = 20;\nfunction twice(n) { return 2 * n; }\nx + 1',
      ),
    );
    expect(first).toMatchObject({ text: "21", isError: false, details: { status: "ok", result: "21", value: 21 } });
    const second = await run(language, choose("[twice(x), math.floor(2.5)]", "[twice(x), basename('/a/b')]"));
    expect(second.details.value).toEqual(isPython ? [40, 2] : [40, "b"]);
    const again = await run(language, choose("x = 'other'\nx", "let x = 'other'; x"));
    expect(again.details.value).toBe("other");
    const nothing = await run(language, choose("y = 1", "const y = 1;"));
    expect(nothing.text).toBe("(no output)");
  });

  test("prints, awaits at the top level, and displays JSON, tables and images", async () => {
    const { run } = await openKernels();
    expect((await run(language, choose('print("a")\nprint("ö")', 'console.log("a"); console.log("ö")'))).text).toBe(
      "a\nö",
    );
    const awaited = choose(
      "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 7\nawait f()",
      "await new Promise((resolve) => setTimeout(() => resolve(7), 1))",
    );
    expect((await run(language, awaited)).details.value).toBe(7);
    const json = await run(language, choose('display({"a": [1]})', "display({ a: [1] })"));
    expect(JSON.parse(json.text)).toEqual({ a: [1] });
    const table = choose(
      `class Frame:
    columns = ["a", "b"]
    shape = (1, 2)
    def head(self, n):
        return self
    def iter_rows(self):
        return [(1, "x|y")]
Frame()`,
      'display([{ a: 1, b: "x|y" }])',
    );
    expect((await run(language, table)).text).toBe("| a | b |\n| --- | --- |\n| 1 | x\\|y |");
    const image = choose(
      `import base64
class Image:
    def _repr_png_(self):
        return base64.b64decode("${png}")
Image()`,
      `Buffer.from("${png}", "base64")`,
    );
    const shown = await run(language, image);
    expect(shown.message.content).toContainEqual({ type: "image", mimeType: "image/png", data: png });
  });

  test("reports an error with its place, and the kernel continues", async () => {
    const { run } = await openKernels();
    await run(language, choose("kept = 5", "var kept = 5;"));
    const failed = await run(language, choose("def f():\n    return 1 / 0\nf()", "function f() { null.x; }\nf()"));
    expect(failed).toMatchObject({ isError: true, details: { status: "error" } });
    expect(failed.text).toMatch(
      isPython ? /line 2, in f\n[\s\S]*return 1 \/ 0[\s\S]*ZeroDivisionError/ : /TypeError[\s\S]*at f /,
    );
    expect(failed.text).not.toMatch(/inspector|run_cell/);
    expect((await run(language, choose("def (", "let = = 3"))).text).toMatch(/SyntaxError/);
    const exit = await run(language, choose("import sys; sys.exit(3)", "Promise.reject(new Error('later')); 1"));
    expect(exit.details.status).toBe(choose("error", "ok"));
    expect((await run(language, "kept")).details.value).toBe(5);
  });

  test("streams its output, bounds it, and keeps the rest in a file", async () => {
    const { run, events } = await openKernels();
    const flood = choose(
      "for i in range(100000):\n    print('line', i)",
      "for (let i = 0; i < 100000; i++) console.log('line', i);",
    );
    const cell = await run(language, flood);
    expect(cell.text.length).toBeLessThan(60_000);
    expect(cell.text).toMatch(/line 99999\n\n\[Showing the last \d+ of 100000 lines\. Full output: /);
    const { outputFile } = cell.details;
    expect(existsSync(outputFile!)).toBe(true);
    expect(readFileSync(outputFile!, "utf8")).toMatch(/^line 0\nline 1\n/);
    expect(events.some((event) => event.type === "tool_execution_update")).toBe(true);
  });
});

describe.each(languages)("a mistake in a cell of %s", (language) => {
  const choose = (python: string, javascript: string) => (language === "python" ? python : javascript);

  test("costs the call that is wrong, and never the variables", async () => {
    const { run } = await openKernels({ files: { "a.txt": "x" } });
    await run(language, choose("kept = 5", "var kept = 5;"));
    const attempt = (call: string) =>
      choose(
        `try:\n    r = await ${call}\nexcept Exception as e:\n    r = [type(e).__name__, getattr(e, "kind", "")]\nr`,
        `await ${call}.catch((e) => [e.name, e.kind])`,
      );
    const wrong = ["KernelError", "invalid_arguments"];
    const calls: [call: string, outcome: unknown][] = [
      [choose("js(5)", "py(5)"), wrong],
      [choose("completion(None)", "completion()"), wrong],
      [choose("agent(7)", "agent({ prompt: 'x' })"), wrong],
      ["invoke_tool(5)", wrong],
      [choose('kernel.rpc("tool://read", path="a.txt", offset="two")', "agentBridge.glob(5)"), wrong],
      [
        choose(
          'tool.write(path="b.txt", content="x" * 17000000)',
          'tool.write({ path: "b.txt", content: "x".repeat(17e6) })',
        ),
        wrong,
      ],
      // JSON has no such number: JavaScript writes null, and Python would write what is not JSON.
      [
        choose('tool.read(path="a.txt", limit=float("nan"))', 'tool.read({ path: "a.txt", limit: NaN })'),
        choose("ValueError", "x"),
      ],
    ];
    for (const [call, outcome] of calls) {
      const cell = await run(language, attempt(call));
      const { value } = cell.details;
      expect(typeof outcome === "string" ? (value as string[])?.[0] : value, `${call}: ${cell.text}`).toEqual(outcome);
    }
    const start = choose("bytes([137, 80, 78, 71, 1, 2, 3, 4, 5])", "Buffer.from([137, 80, 78, 71, 1, 2, 3, 4, 5])");
    const image = choose(`class Image:\n    def _repr_png_(self): return ${start}\nImage()`, start);
    expect(await run(language, image)).toMatchObject({ isError: false });
    expect((await run(language, "kept")).details.value).toBe(5);
  });
});

test.skipIf(!languages.includes("python"))(
  "of a wide data frame the first columns are shown, and how many there are",
  async () => {
    const { run } = await openKernels();
    const code = `class Frame:
    columns = ["c%d" % index for index in range(20000)]
    shape = (100, 20000)
    def head(self, n): return self
    def itertuples(self, index): return [tuple([row] + ["x" * 20] * 20000) for row in range(100)]
Frame()`;
    const { text, isError } = await run("python", code);
    expect(isError, text.slice(0, 200)).toBe(false);
    const [columns, , row] = text.split("\n").map((line) => line.split(" | "));
    expect([columns!.length, columns![1], columns!.at(-1)]).toEqual([51, "c0", "… (19951 more columns) |"]);
    expect([row!.length, row!.at(-1)]).toEqual([51, "… |"]);
  },
);

test("names of the runner are free for cells", async () => {
  const { run } = await openKernels();
  const names = ["fs", "session", "send", "write", "calls", "ask", "show", "result", "thread", "isRecord"];
  const cell = await run(
    "javascript",
    `${names.map((name) => `const ${name} = "${name}";`).join(" ")} [${names.join(", ")}]`,
  );
  expect(cell.details.value, cell.text).toEqual(names);
  expect((await run("javascript", "typeof scopes + typeof registered + send")).details.value).toBe(
    "undefinedundefinedsend",
  );
});

test("with a reset, variables are gone, and that is said", async () => {
  const { run } = await openKernels();
  await run("javascript", "var x = 1;");
  const cell = await run("javascript", "typeof x", { reset: true });
  expect(cell.text).toBe("[A new kernel: the variables of the one before are gone. It was reset.]\n\n'undefined'");
});

test.skipIf(!hasSandbox)("kernels run in the sandbox: files outside and hidden credentials stay closed", async () => {
  const { run, cwd } = await openKernels({ sandbox: { mode: "required" }, files: { "in.txt": "inside" } });
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (const language of languages) {
    const read = (path: string) =>
      language === "python"
        ? `open(${JSON.stringify(path)}).read()`
        : `require("fs").readFileSync(${JSON.stringify(path)}, "utf8")`;
    const write = (path: string) =>
      language === "python"
        ? `open(${JSON.stringify(path)}, "w").write("x")`
        : `require("fs").writeFileSync(${JSON.stringify(path)}, "x")`;
    expect((await run(language, read(`${cwd}/in.txt`))).details.value).toBe("inside");
    expect((await run(language, write("/etc/tau-kernel-test"))).isError).toBe(true);
    expect(existsSync("/etc/tau-kernel-test")).toBe(false);
    const host =
      language === "python"
        ? `import urllib.request\nurllib.request.urlopen("${address}", timeout=5)`
        : `await fetch("${address}")`;
    expect((await run(language, host)).isError).toBe(true);
  }
  expect(connections).toBe(0);
});
