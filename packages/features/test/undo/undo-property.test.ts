/** Undo against a naive copy: whatever is done, undone and done again, the files are as the copies say. */
import { chmodSync, lstatSync, type Stats, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { copyNaively, openWorkspace, type StoreKind, type Workspace } from "./kit.ts";

type Edit =
  | { kind: "write"; path: string; text: string; isExecutable: boolean }
  | { kind: "remove"; path: string }
  | { kind: "directory"; path: string }
  | { kind: "link"; path: string; target: string }
  | { kind: "move"; path: string; to: string };

type Operation =
  | { kind: "run"; edits: Edit[] }
  | { kind: "person"; edits: Edit[] }
  | { kind: "undo" }
  | { kind: "redo" };

const shared = ["f0", "f1", "f2 with\na break", "ü/f3"];
const ofRuns = [...shared, "d0", "d0/a", "d0/b/c", "d1", "d1/e", ".hidden/x"];
const ofPerson = [...shared, "mine/p0", "mine/p1"];
const text = fc.constantFrom("one", "two\n", "three", "", "bin\0ary", "crlf\r\n");

const toEdit = (paths: readonly string[], isPerson: boolean): fc.Arbitrary<Edit> => {
  const path = fc.constantFrom(...paths);
  const write = fc.record({ kind: fc.constant("write" as const), path, text, isExecutable: fc.boolean() });
  const remove = fc.record({ kind: fc.constant("remove" as const), path });
  if (isPerson) return fc.oneof(write, remove);
  return fc.oneof(
    { weight: 3, arbitrary: write },
    remove,
    fc.record({ kind: fc.constant("directory" as const), path }),
    fc.record({ kind: fc.constant("link" as const), path, target: fc.constantFrom("f0", "nowhere", "d0", "/") }),
    fc.record({ kind: fc.constant("move" as const), path, to: path }),
  );
};

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("run" as const),
      edits: fc.array(toEdit(ofRuns, false), { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("person" as const),
      edits: fc.array(toEdit(ofPerson, true), { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: "undo" as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: "redo" as const }) },
);

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

function makeRoom(cwd: string, path: string): void {
  for (let parent = dirname(path); parent !== "."; parent = dirname(parent)) {
    const stats = look(join(cwd, parent));
    if (stats && !stats.isDirectory()) rmSync(join(cwd, parent));
  }
  mkdirSync(join(cwd, dirname(path)), { recursive: true });
}

function edit(cwd: string, change: Edit): void {
  const full = join(cwd, change.path);
  const isReal = () => {
    for (let parent = dirname(change.path); parent !== "."; parent = dirname(parent))
      if (!look(join(cwd, parent))?.isDirectory()) return false;
    return true;
  };
  switch (change.kind) {
    case "write":
      makeRoom(cwd, change.path);
      rmSync(full, { recursive: true, force: true });
      writeFileSync(full, change.text);
      return chmodSync(full, change.isExecutable ? 0o755 : 0o644);
    case "remove":
      return isReal() ? rmSync(full, { recursive: true, force: true }) : undefined;
    case "directory":
      makeRoom(cwd, change.path);
      if (!look(full)?.isDirectory()) rmSync(full, { force: true });
      return void mkdirSync(full, { recursive: true });
    case "link":
      makeRoom(cwd, change.path);
      rmSync(full, { recursive: true, force: true });
      return symlinkSync(change.target, full);
    case "move": {
      const isInside =
        change.to === change.path || change.to.startsWith(`${change.path}/`) || change.path.startsWith(`${change.to}/`);
      if (isInside || !isReal() || !look(full)) return;
      makeRoom(cwd, change.to);
      if (!look(full)) return;
      rmSync(join(cwd, change.to), { recursive: true, force: true });
      return renameSync(full, join(cwd, change.to));
    }
  }
}

type Copy = ReadonlyMap<string, string>;

/** Three-way, for whole files: what the texts here allow. Undefined: a conflict. */
function revert(now: Copy, base: Copy, target: Copy): Copy | undefined {
  const result = new Map(now);
  for (const path of new Set([...base.keys(), ...target.keys()])) {
    const [b, t, n] = [base.get(path), target.get(path), now.get(path)];
    if (b === t || n === t) continue;
    const next = n === b ? t : joinRights(n, b, t);
    if (next === "conflict") return undefined;
    if (next === undefined) result.delete(path);
    else result.set(path, next);
  }
  return result;
}

/** A file whose content and whose right to be executed were changed by different people. */
function joinRights(n: string | undefined, b: string | undefined, t: string | undefined): string | undefined {
  const split = (value: string | undefined) => /^([x-]) (.*)$/.exec(value ?? "")?.slice(1);
  const [now, base, target] = [split(n), split(b), split(t)];
  if (!now || !base || !target) return "conflict";
  const [right, content] = [0, 1].map((index) => {
    if (now[index] === base[index]) return target[index];
    return target[index] === base[index] || target[index] === now[index] ? now[index] : undefined;
  });
  return right === undefined || content === undefined ? "conflict" : `${right} ${content}`;
}

interface Done {
  before: Copy;
  after: Copy;
}

async function follow(workspace: Workspace, operations: readonly Operation[]): Promise<void> {
  const { cwd } = workspace;
  const done: Done[] = [];
  let undone: Done[] = [];
  for (const step of operations) {
    const now = copyNaively(cwd);
    switch (step.kind) {
      case "person":
        for (const change of step.edits) edit(cwd, change);
        break;
      case "run": {
        await workspace.run(() => step.edits.forEach((change) => edit(cwd, change)));
        const after = copyNaively(cwd);
        if (JSON.stringify([...now]) === JSON.stringify([...after])) break;
        done.push({ before: now, after });
        undone = [];
        break;
      }
      case "undo":
      case "redo": {
        const effect = step.kind === "undo" ? done.at(-1) : undone.at(-1);
        const expected = !effect
          ? now
          : step.kind === "undo"
            ? revert(now, effect.after, effect.before)
            : revert(now, effect.before, effect.after);
        const conflicts = await workspace.undo({ kind: step.kind === "undo" ? "last" : "redo" });
        expect([conflicts.length > 0, copyNaively(cwd)]).toEqual([expected === undefined, expected ?? now]);
        if (effect && expected) {
          if (step.kind === "undo") undone.push(done.pop()!);
          else done.push(undone.pop()!);
        }
      }
    }
  }
  expect(workspace.warnings).toEqual([]);
}

test.each<StoreKind>(["git", "copies"])(
  "with %s, any sequence of edits, undone and done again at any points, equals the naive copy",
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 2, maxLength: 9 }), async (operations) => {
        const workspace = await openWorkspace(kind, {
          f0: "zero",
          "d0/a": "tracked",
          "d0/b/c": "deep",
          "mine/p0": "mine",
        });
        await follow(workspace, [
          { kind: "run", edits: [{ kind: "write", path: "f1", text: "begin", isExecutable: false }] },
          ...operations,
        ]);
      }),
      { numRuns: process.env["TAU_LONG"] ? 150 : 6 },
    );
  },
  600_000,
);
