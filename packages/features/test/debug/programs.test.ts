/** Real adapters in a real session: a program with a planted bug, which a model finds with `debug` alone. */
import { readlinkSync } from "node:fs";
import type { Context } from "@tau/ai";
import { type ScriptedTurn, text } from "@tau/ai/testing";
import { isSandboxMissing } from "@tau/sandbox/internal";
import { describe, expect, test } from "vitest";
import { type Adapter, callDebug, compile, findDebugpy, findNative, open } from "./kit.ts";

/** Says why a test is skipped. */
function needs(adapter: Adapter): boolean {
  if (!adapter.isHere) console.log(`Skipped: ${adapter.why}.`);
  return adapter.isHere;
}

/** Returns the text that the model reads in the last result. */
function last({ messages }: Context): string {
  const message = messages.at(-1)!;
  return message.role === "toolResult" && message.content[0]?.type === "text" ? message.content[0].text : "";
}

const timeout = 120_000;

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
      // It runs until the exception that nobody catches.
      [callDebug({ action: "launch", program: "average.py" })],
      (context) => {
        expect(last(context)).toMatch(/Stopped: exception.*ZeroDivisionError[^]* average\.py:11/);
        expect(last(context)).toMatch(/>\s+11 {5}return total \/ count/);
        expect(last(context)).toContain("count: int = 0");
        return [callDebug({ action: "terminate" })];
      },
      [callDebug({ action: "set_breakpoint", file: "average.py", line: 9, condition: "value == 0" })],
      [callDebug({ action: "launch", program: "average.py", args: ["again"] })],
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
        return [callDebug({ action: "output" })];
      },
      [callDebug({ action: "terminate" })],
      [text("Line 10 sets the count to zero.")],
    ];
    const opened = await open(turns, { files: { "average.py": average } });
    await opened.prompt("find the bug");
    const results = opened.getResults();
    expect(results.filter(({ isError }) => isError)).toEqual([]);
    expect(results[3]!.details).toMatchObject({
      stop: {
        place: { path: "average.py", line: 9, excerpt: { current: 9 } },
        variables: expect.any(Array) as unknown,
      },
    });
    // A sandbox has processes of its own; where there is none, the adapter runs without.
    const [, namespace] = /pid namespace (\S+)/.exec(results[7]!.text) ?? [];
    expect(namespace).toBeDefined();
    if (!isSandboxMissing(opened.cwd)) expect(namespace).not.toBe(readlinkSync("/proc/self/ns/pid"));
  });
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
        return [callDebug({ action: "set_breakpoint", file: "list.c", line: 21 })];
      },
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
        return [text("The loop ends before the last node.")];
      },
    ];
    const opened = await open(turns);
    await compile(opened.cwd, "list", list);
    await opened.prompt("find the bug");
    expect(opened.getResults().filter(({ isError }) => isError)).toEqual([]);
  });

  test("a program that crashes stops where it does", { timeout }, async () => {
    const opened = await open([
      [callDebug({ action: "launch", program: "crash" })],
      [callDebug({ action: "terminate" })],
      [text("Done.")],
    ]);
    await compile(opened.cwd, "crash", "int main(void) {\n  int *p = 0;\n  return *p;\n}\n");
    await opened.prompt("go");
    const [launched] = opened.getResults();
    expect(launched!.text).toMatch(/Stopped: .*(SIGSEGV|exception|signal)[^]*crash\.c:3/);
  });
});
