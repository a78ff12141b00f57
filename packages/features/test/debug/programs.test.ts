/** Real adapters in a real session: a program with a planted bug, which a model finds with `debug` alone. */
import { execFile } from "node:child_process";
import { readlinkSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Context } from "@tau/ai";
import { type ScriptedTurn, text } from "@tau/ai/testing";
import { isSandboxMissing } from "@tau/sandbox/internal";
import { describe, expect, test } from "vitest";
import { buildSessionProgram } from "../session-program.ts";
import {
  type Adapter,
  callDebug,
  compile,
  findAdapter,
  findDebugpy,
  findDelve,
  findNative,
  makeDirectory,
  open,
} from "./kit.ts";

/** Says why a test is skipped. */
function needs(adapter: Adapter): boolean {
  if (!adapter.isHere) console.log(`Skipped: ${adapter.why}.`);
  else if (adapter.note !== undefined) console.log(`${adapter.name} is used: ${adapter.note}.`);
  return adapter.isHere;
}

/** Returns the text that the model reads in the last result. */
function last({ messages }: Context): string {
  const message = messages.at(-1)!;
  return message.role === "toolResult" && message.content[0]?.type === "text" ? message.content[0].text : "";
}

const timeout = 300_000;

const average = `import os

def average(values):
    total = 0
    count = 0
    for value in values:
        total += value
        count += 1
        if value == 0:
            count = 0
    return total / count

print("pid namespace", os.readlink("/proc/self/ns/pid") if os.path.exists("/proc/self/ns/pid") else "none")
print("average", average([4, 8, 0]))
`;

const debugpy = findDebugpy();
describe.skipIf(!needs(debugpy))("Python with debugpy", () => {
  test("the line that sets the count to zero is found by stepping, in the sandbox", { timeout }, async () => {
    const turns: ScriptedTurn[] = [
      [callDebug({ action: "set_breakpoint", function: "average" })],
      [callDebug({ action: "set_breakpoint", file: "average.py", line: 7, hitCondition: "2" })],
      [callDebug({ action: "set_breakpoint", file: "average.py", line: 9, condition: "value == 0" })],
      [callDebug({ action: "launch", program: "average.py" })],
      (context) => {
        expect(last(context)).toMatch(/Stopped: .*breakpoint[^]* average\.py:[34]/);
        return [callDebug({ action: "continue" })];
      },
      (context) => {
        expect(last(context)).toContain("average.py:7");
        expect(last(context)).toContain("value: int = 8");
        return [callDebug({ action: "continue" })];
      },
      (context) => {
        expect(last(context)).toContain("average.py:9");
        expect(last(context)).toContain("count: int = 3");
        return [callDebug({ action: "step_over" })];
      },
      [callDebug({ action: "step_over" })],
      (context) => {
        expect(last(context)).toContain("count: int = 0");
        return [callDebug({ action: "evaluate", expression: "total / 3" })];
      },
      (context) => {
        expect(last(context)).toContain("4.0");
        return [callDebug({ action: "continue" })];
      },
      (context) => {
        // An exception that nobody catches stops it too.
        expect(last(context)).toMatch(/Stopped: exception.*ZeroDivisionError[^]* average\.py:11/);
        expect(last(context)).toMatch(/>\s+11 {5}return total \/ count/);
        return [callDebug({ action: "output" })];
      },
      [callDebug({ action: "terminate" })],
      [text("Line 10 sets the count to zero.")],
    ];
    const opened = await open(turns, { files: { "average.py": average } });
    await opened.prompt("find the bug");
    const results = opened.getResults();
    expect(results.filter(({ isError }) => isError)).toEqual([]);
    expect(results[5]!.details).toMatchObject({
      stop: {
        place: { path: "average.py", line: 9, excerpt: { current: 9 } },
        variables: expect.any(Array) as unknown,
      },
    });
    // A sandbox has processes of its own; where there is none, the adapter runs without.
    const [, namespace] = /pid namespace (\S+)/.exec(results[10]!.text) ?? [];
    expect(namespace).toBeDefined();
    if (!isSandboxMissing(opened.cwd)) expect(namespace).not.toBe(readlinkSync("/proc/self/ns/pid"));
  });
});

const floodMegabytes = process.env["TAU_LONG"] === undefined ? 8 : 100;
const flood = `import sys
for index in range(${floodMegabytes}):
    sys.stdout.write(("y" * 999 + "\\n") * 1000)
last = 1
print("after")
last = 2
`;

describe.skipIf(!needs(debugpy))("Python that floods", () => {
  test(
    `steps answer after ${floodMegabytes} MB of output, which take no more memory than what is kept`,
    { timeout },
    async () => {
      const directory = await makeDirectory();
      const program = await buildSessionProgram(
        directory,
        `
    import { scriptedModel, text, call } from "@tau/ai/testing";
    import { SettingsManager } from "@tau/config/settings";
    import { createAgentSession } from "@tau/harness";
    import { debug, discovery } from "../src/index.ts";
    const features = [discovery(), debug()];
    const [,, cwd, agentDir, calls] = process.argv;
    const session = await createAgentSession({
      cwd, agentDir, features, settingsManager: SettingsManager.inMemory({}, { features, projectTrusted: true }),
      model: scriptedModel([...JSON.parse(calls).map((each) => [each]), [text("Done.")]]),
    });
    const before = process.memoryUsage().rss;
    await session.prompt("go");
    const results = session.messages.flatMap((message) => message.role === "toolResult" ? [message.content[0].text] : []);
    const grownBytes = process.resourceUsage().maxRSS * 1024 - before;
    await session.dispose();
    process.stdout.write(JSON.stringify({ results, grownBytes }), () => process.exit(0));
  `,
      );
      const [cwd, agentDir] = [join(directory, "work"), join(directory, "agent")];
      for (const path of [cwd, agentDir]) await mkdir(path);
      await writeFile(join(cwd, "flood.py"), flood);
      const calls = [
        { action: "set_breakpoint", file: "flood.py", line: 4 },
        { action: "launch", program: "flood.py", timeoutMs: 240_000 },
        { action: "step_over" },
        { action: "step_over" },
        { action: "terminate" },
      ].map((args, index) => ({ ...callDebug(args), id: String(index) }));
      const { stdout } = await promisify(execFile)(process.execPath, [program, cwd, agentDir, JSON.stringify(calls)]);
      const { results, grownBytes } = JSON.parse(stdout) as { results: string[]; grownBytes: number };
      expect(results[1]).toContain("Stopped: breakpoint at flood.py:4");
      expect(results[2]).toContain("last: int = 1");
      expect(results[3]).toContain("flood.py:6");
      // The program grows by 50 to 90 MB while it loads its code, however much is written: less than what a short run writes says nothing.
      if (process.env["TAU_LONG"] !== undefined) expect(grownBytes).toBeLessThan(150_000_000);
    },
  );
});

const list = `#include <stdio.h>
#include <stdlib.h>

struct node {
  int value;
  struct node *next;
};

static struct node *push(struct node *head, int value) {
  struct node *node = malloc(sizeof *node);
  node->value = value;
  node->next = head;
  return node;
}

static int largest(const struct node *list) {
  int best = 0;
  for (const struct node *node = list; node->next != NULL; node = node->next) {
    if (node->value > best) best = node->value;
  }
  return best;
}

int main(void) {
  struct node *list = push(push(push(NULL, 9), 2), 5);
  printf("largest %d\\n", largest(list));
  return 0;
}
`;

const native = findNative();
describe.skipIf(!needs(native))("C with gdb or lldb-dap", () => {
  test("the loop that leaves out the last node is found by its steps", { timeout }, async () => {
    const turns: ScriptedTurn[] = [
      [callDebug({ action: "set_breakpoint", function: "largest" })],
      [callDebug({ action: "launch", program: "list" })],
      (context) => {
        expect(last(context)).toMatch(/Stopped: .*breakpoint.* at list\.c:1[67]/);
        return [callDebug({ action: "set_breakpoint", file: "list.c", line: 19, hitCondition: "2" })];
      },
      [callDebug({ action: "continue" })],
      (context) => {
        expect(last(context)).toContain("list.c:19");
        return [callDebug({ action: "evaluate", expression: "node->value" })];
      },
      (context) => {
        expect(last(context)).toMatch(/^(\(int\) )?2\b/);
        return [callDebug({ action: "remove_breakpoint", file: "list.c" })];
      },
      // The first of them is never true.
      [callDebug({ action: "set_breakpoint", file: "list.c", line: 26, condition: "list == 0" })],
      [callDebug({ action: "set_breakpoint", file: "list.c", line: 21, condition: "best == 5" })],
      [callDebug({ action: "continue" })],
      (context) => {
        expect(last(context)).toContain("list.c:21");
        expect(last(context)).toMatch(/best: int = 5/);
        return [callDebug({ action: "evaluate", expression: "list->next->next->value" })];
      },
      (context) => {
        // The largest value is in the node that was never looked at.
        expect(last(context)).toContain("9");
        return [callDebug({ action: "stack_trace", levels: 2 })];
      },
      (context) => {
        expect(last(context)).toMatch(/largest at list\.c:21[^]*main at list\.c:26/);
        return [callDebug({ action: "remove_breakpoint", file: "list.c" })];
      },
      [callDebug({ action: "continue" })],
      (context) => {
        expect(last(context)).toContain("The program has ended with code 0.");
        expect(last(context)).toContain("largest 5");
        return [callDebug({ action: "launch", program: "crash" })];
      },
      (context) => {
        expect(last(context)).toMatch(/Stopped: .*(SIGSEGV|exception|signal)[^]*crash\.c:3/);
        return [callDebug({ action: "terminate" })];
      },
      [text("The loop ends before the last node, and the other program reads address 0.")],
    ];
    const opened = await open(turns);
    await compile(opened.cwd, "list", list);
    await compile(opened.cwd, "crash", "int main(void) {\n  int *p = 0;\n  return *p;\n}\n");
    await opened.prompt("find the bug");
    expect(opened.getResults().filter(({ isError }) => isError)).toEqual([]);
  });
});

const go = `package main

import "fmt"

func sum(values []int) int {
	total := 0
	for _, value := range values {
		total += value
	}
	return total
}

func main() {
	fmt.Println("sum", sum([]int{1, 2, 3}))
}
`;

describe.skipIf(!needs(findDelve()))("Go with dlv", () => {
  test("a breakpoint with a condition stops it, over a socket", { timeout }, async () => {
    const opened = await open(
      [
        [callDebug({ action: "set_breakpoint", file: "main.go", line: 8, condition: "value == 3" })],
        [callDebug({ action: "launch", program: "main.go" })],
        (context) => {
          expect(last(context)).toContain("main.go:8");
          expect(last(context)).toContain("total: int = 3");
          return [callDebug({ action: "remove_breakpoint", file: "main.go" })];
        },
        [callDebug({ action: "continue" })],
        [text("Done.")],
      ],
      { files: { "main.go": go, "go.mod": "module example\n\ngo 1.19\n" } },
    );
    await opened.prompt("go");
    expect(opened.getResults().filter(({ isError }) => isError)).toEqual([]);
    expect(opened.getResults().at(-1)!.text).toContain("The program has ended");
  });
});

const script = `function double(value) {
  return value * 2;
}
console.log("doubled", double(21));
`;

describe.skipIf(!needs(findAdapter("js-debug", "node")))("JavaScript with js-debug", () => {
  test("a breakpoint stops the child session that has the program", { timeout }, async () => {
    const opened = await open(
      [
        [callDebug({ action: "set_breakpoint", file: "double.js", line: 2 })],
        [callDebug({ action: "launch", program: "double.js" })],
        (context) => {
          expect(last(context)).toContain("double.js:2");
          return [callDebug({ action: "terminate" })];
        },
        [text("Done.")],
      ],
      { files: { "double.js": script } },
    );
    await opened.prompt("go");
    expect(opened.getResults().filter(({ isError }) => isError)).toEqual([]);
  });
});
