import { diffArrays } from "diff";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyHunks, refuseOverlaps } from "../src/hashline/apply.ts";
import { type LineEdit, planLineEdits } from "../src/hashline/plan.ts";
import { createSnapshots, type Snapshots } from "../src/hashline/snapshots.ts";
import { lineTag } from "../src/hashline/tags.ts";
import { parseTextFile } from "../src/hashline/text.ts";

const numRuns = process.env["TAU_LONG"] ? 5_000 : 1_000;

/** A line that is the same line wherever it moves, whatever other lines say. */
interface Known {
  text: string;
  /** Where it stood when the model saw it; undefined for lines that came since. */
  from: number | undefined;
}

interface Change {
  at: number;
  kind: "insert" | "delete" | "modify" | "copy";
  size: number;
  source: number;
}

interface Scene {
  base: string[];
  changes: Change[];
  target: number;
  size: number;
  op: "replace" | "before" | "after";
}

/** Few different words, so that lines repeat as braces and blank lines do. */
const scenes = (words: number, minLength: number, maxLength: number): fc.Arbitrary<Scene> =>
  fc.record({
    base: fc.array(
      fc.nat(words).map((word) => (word < words / 4 ? "}" : `word ${word}`)),
      { minLength, maxLength },
    ),
    changes: fc.array(
      fc.record({
        at: fc.nat(1_000),
        kind: fc.constantFrom("insert" as const, "delete" as const, "modify" as const, "copy" as const),
        size: fc.integer({ min: 1, max: 3 }),
        source: fc.nat(1_000),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    target: fc.nat(1_000),
    size: fc.integer({ min: 1, max: 3 }),
    op: fc.constantFrom("replace" as const, "before" as const, "after" as const),
  });

/** Applies the changes of others to the file. Each place is touched once, so that nothing is undone by chance. */
function changed({ base, changes }: Scene): Known[] {
  let lines: Known[] = base.map((text, from) => ({ text, from }));
  const touched = new Set<number>();
  for (const { at, kind, size, source } of changes) {
    const place = at % base.length;
    const span = Array.from({ length: size }, (_unused, step) => place + step);
    if (span.some((line) => touched.has(line) || line >= base.length)) continue;
    for (const line of span) touched.add(line);
    const here = lines.findIndex(({ from }) => from === place);
    const copied = base
      .slice(source % base.length, (source % base.length) + size)
      .map((text) => ({ text, from: undefined }));
    const fresh = span.map((line) => ({ text: `new ${at} ${line}`, from: undefined }));
    if (kind === "insert") lines.splice(here, 0, ...fresh);
    else if (kind === "copy") lines.splice(here, 0, ...copied);
    else if (kind === "delete") lines = lines.filter(({ from }) => from === undefined || !span.includes(from));
    else if (kind === "modify")
      lines = lines.map((line) =>
        line.from !== undefined && span.includes(line.from) ? { text: `${line.text} changed`, from: undefined } : line,
      );
  }
  return lines;
}

/**
 * Whether what happened is the shortest story that leads from one text to the other. Where it is not (a line deleted
 * and the same line added beside it), it cannot be told from the shorter one.
 */
function isPlain(base: readonly string[], now: readonly Known[]): boolean {
  const kept = now.filter(({ from }) => from !== undefined).length;
  const story = base.length - kept + (now.length - kept);
  const changes = diffArrays(
    [...base],
    now.map(({ text }) => text),
  );
  return story === changes.reduce((sum, { added, removed, count }) => sum + (added || removed ? count : 0), 0);
}

const getText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
const getFile = (text: string) => parseTextFile(Buffer.from(text), "f");
const showAll = (snapshots: Snapshots, lines: readonly string[]) =>
  snapshots.show({ path: "f", file: getFile(getText(lines)), numbers: [...lines.keys()] });

function run(scene: Scene) {
  const { base, op } = scene;
  const start = scene.target % base.length;
  const end = op === "replace" ? Math.min(base.length, start + scene.size) : start + 1;
  const snapshots = createSnapshots();
  showAll(snapshots, base);
  const now = changed(scene);
  const isFair = isPlain(base, now);
  const current = getFile(getText(now.map(({ text }) => text)));
  const anchor = (line: number) => ({ line: line + 1, tag: lineTag(base[line]!) });
  const lines = ["the edit"];
  const edit: LineEdit = { op, first: anchor(start), last: anchor(end - 1), lines, name: "edit 1" };
  const plan = planLineEdits({ edits: [edit], current, versions: snapshots.versions("f") });

  const first = now.findIndex(({ from }) => from === start);
  const isWhole = first >= 0 && base.slice(start, end).every((_text, at) => now[first + at]?.from === start + at);
  const oracle = now.map(({ text }) => text);
  if (op === "replace") oracle.splice(first, end - start, ...lines);
  else oracle.splice(op === "before" ? first : first + 1, 0, ...lines);
  if (plan.kind === "refused") return { isFair, isWhole, isPlaced: false, result: undefined, oracle };
  refuseOverlaps(plan.hunks, "f");
  return { isFair, isWhole, isPlaced: true, result: applyHunks(current, plan.hunks).lines, oracle };
}

describe("random concurrent changes", () => {
  test("never place a hunk on a wrong line, however often lines repeat", () => {
    const law = (scene: Scene) => {
      const { isFair, isWhole, isPlaced, result, oracle } = run(scene);
      if (!isFair || !isPlaced) return;
      expect(isWhole).toBe(true);
      expect(result).toEqual(oracle);
    };
    fc.assert(fc.property(scenes(4, 3, 12), law), { numRuns });
    fc.assert(fc.property(scenes(12, 5, 30), law), { numRuns });
    fc.assert(fc.property(scenes(60, 10, 60), law), { numRuns });
  });

  test("are recovered from nine times of ten at least where they left the lines of the edit alone", () => {
    let disjoint = 0;
    let placed = 0;
    for (const scene of fc.sample(scenes(1_000, 20, 100), { numRuns: 3_000, seed: 4 })) {
      const { isWhole, isPlaced } = run(scene);
      if (!isWhole) continue;
      disjoint++;
      if (isPlaced) placed++;
    }
    expect(disjoint).toBeGreaterThan(1_500);
    expect(placed / disjoint).toBeGreaterThanOrEqual(0.9);
  });

  test("after own edits, an anchor leads to its own line or nowhere", () => {
    const words = fc.constantFrom("}", "", "a", "b");
    fc.assert(
      fc.property(
        fc.array(words, { minLength: 3, maxLength: 10 }),
        fc.array(fc.record({ at: fc.nat(), size: fc.nat(2), lines: fc.array(words, { maxLength: 3 }) }), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.nat(),
        (base, steps, target) => {
          const snapshots = createSnapshots();
          showAll(snapshots, base);
          let now: Known[] = base.map((text, from) => ({ text, from }));
          // A text that comes back is the same version again: then its numbers count, not what happened in between.
          const texts = new Set([getText(base)]);
          for (const { at, size, lines } of steps) {
            const before = getText(now.map(({ text }) => text));
            const start = at % (now.length + 1);
            const end = Math.min(now.length, start + size);
            const next = now.toSpliced(start, end - start, ...lines.map((text) => ({ text, from: undefined })));
            const after = getText(next.map(({ text }) => text));
            if (texts.has(after)) continue;
            texts.add(after);
            now = next;
            snapshots.edited("f", getFile(before), getFile(after), [{ start, end, lines }]);
          }
          const line = target % base.length;
          const anchor = { line: line + 1, tag: lineTag(base[line]!) };
          const edit: LineEdit = { op: "replace", first: anchor, last: anchor, lines: ["the edit"], name: "edit 1" };
          const current = getFile(getText(now.map(({ text }) => text)));
          const plan = planLineEdits({ edits: [edit], current, versions: snapshots.versions("f") });
          if (plan.kind === "refused") return;
          const [hunk] = plan.hunks;
          expect(now[hunk!.start]!.from).toBe(line);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  test("after own edits that were shown, a range replaces the lines that it was named for, or says that it does not", () => {
    const words = fc.constantFrom("}", "a", "b", "c");
    const step = fc.record({ at: fc.nat(), size: fc.nat(2), lines: fc.array(words, { maxLength: 3 }) });
    fc.assert(
      fc.property(
        fc.array(words, { minLength: 3, maxLength: 10 }),
        fc.array(step, { minLength: 1, maxLength: 3 }),
        fc.tuple(fc.nat(), fc.nat()),
        (base, steps, ends) => {
          const snapshots = createSnapshots();
          showAll(snapshots, base);
          let now = base;
          for (const { at, size, lines } of steps) {
            const start = at % (now.length + 1);
            const end = Math.min(now.length, start + size);
            const before = now;
            now = before.toSpliced(start, end - start, ...lines);
            const file = getFile(getText(now));
            snapshots.edited("f", getFile(getText(before)), file, [{ start, end, lines }]);
            snapshots.show({ path: "f", file, numbers: lines.map((_line, index) => start + index) });
          }
          const [from, to] = ends.map((end) => end % base.length).sort((a, b) => a - b) as [number, number];
          const toAnchor = (line: number) => ({ line: line + 1, tag: lineTag(base[line]!) });
          const edit: LineEdit = {
            op: "replace",
            first: toAnchor(from),
            last: toAnchor(to),
            lines: [],
            name: "edit 1",
          };
          const versions = snapshots.versions("f");
          const plan = planLineEdits({ edits: [edit], current: getFile(getText(now)), versions });
          if (plan.kind === "refused" || plan.notes.length > 0) return;
          const { start, end } = plan.hunks[0]!;
          expect(now.slice(start, end)).toEqual(base.slice(from, to + 1));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
