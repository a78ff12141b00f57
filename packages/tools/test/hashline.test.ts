import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TextContent } from "@tau/ai";
import { describe, expect, test } from "vitest";
import { ToolsError } from "../src/errors.ts";
import type { RequestedEdit } from "../src/hashline/edit-arguments.ts";
import { createHashlineEditTool } from "../src/hashline/hashline-edit.ts";
import { createHashlinePatchTool } from "../src/hashline/hashline-patch.ts";
import { showHashline } from "../src/hashline/show.ts";
import { createSnapshots, type SnapshotLimits } from "../src/hashline/snapshots.ts";
import { lineTag } from "../src/hashline/tags.ts";
import { createFileQueue } from "../src/files/file-queue.ts";
import { createFiles, type Files } from "../src/platform/files.ts";
import { nodeFileSystem } from "../src/platform/file-system.ts";
import { withEveryFault } from "../src/testing/faults.ts";
import { scratch } from "./scratch.ts";

function desk(
  contents: Record<string, string | Buffer>,
  { files = createFiles(), limits = {} }: { files?: Files; limits?: SnapshotLimits } = {},
) {
  const cwd = scratch();
  for (const [name, content] of Object.entries(contents)) writeFileSync(join(cwd, name), content);
  const snapshots = createSnapshots(limits);
  const ground = { cwd, files, queue: createFileQueue(), snapshots };
  const editor = createHashlineEditTool(ground);
  const patcher = createHashlinePatchTool(ground);
  const getText = ({ content }: { content: unknown[] }) => (content[0] as TextContent).text;
  return {
    cwd,
    editor,
    snapshots,
    write: (name: string, content: string) => writeFileSync(join(cwd, name), content),
    content: (name = "f") => readFileSync(join(cwd, name), "utf8"),
    read(name = "f", window: { offset?: number; limit?: number } = {}) {
      const path = join(cwd, name);
      return showHashline(snapshots, { typed: name, realPath: path, bytes: readFileSync(path) }, window).text;
    },
    async edit(edits: RequestedEdit[], path = "f") {
      const result = await editor.execute("id", { path, edits } as never);
      return { text: getText(result), details: result.details! };
    },
    async patch(patch: string) {
      const result = await patcher.execute("id", { patch });
      return { text: getText(result), details: result.details! };
    },
  };
}

const anchor = (line: number, text: string) => `${line}#${lineTag(text)}`;
const letters = (text: string) => `${text.split("").join("\n")}\n`;
const getTag = (shown: string) => /#([0-9a-f]{4})$/m.exec(shown.split("\n")[0]!)![1]!;
/** The rows that a refusal or a result shows, by their content. */
const toRows = (text: string) =>
  new Map([...text.matchAll(/^(\d+#[A-Z]{2}):(.*)$/gm)].map(([, name, content]) => [content!, name!]));
const toError = async (work: Promise<unknown>): Promise<Error> => {
  const outcome: unknown = await work.catch((error: unknown) => error);
  if (outcome instanceof Error) return outcome;
  throw new Error("it was not refused");
};

describe("hashline_edit", () => {
  test("rows that were pasted between new lines lose their tags, and what only looks like one stays", async () => {
    const { edit, read, content } = desk({ f: letters("abc") });
    read();
    const row = (line: number, text: string) => `${anchor(line, text)}:${text}`;
    const odd = `7#${lineTag("other") === lineTag("hello") ? lineTag("third") : lineTag("other")}:hello`;
    await edit([
      {
        op: "replace",
        pos: anchor(1, "a"),
        end: anchor(2, "b"),
        lines: [row(1, "a"), "new", `${anchor(2, "b")}:changed`, odd],
      },
    ]);
    expect(content()).toBe(`a\nnew\nchanged\n${odd}\nc\n`);
  });

  test("replaces, inserts and deletes by the numbers that were shown, and shows what came of it", async () => {
    const { edit, read, content, cwd } = desk({ f: letters("abcdef") });
    read();
    const { text, details } = await edit([
      { op: "replace", pos: anchor(2, "b"), end: anchor(3, "c"), lines: null },
      { op: "append", pos: anchor(5, "e"), lines: ["x", "y"] },
      { op: "prepend", lines: "top" },
      { op: "append", lines: "end" },
      { op: "replace", pos: anchor(4, "d"), lines: `4#${lineTag("d")}:D` },
    ]);
    expect(content()).toBe("top\na\nD\ne\nx\ny\nf\nend\n");
    expect(text).toMatch(/^Edited f\.\n¶f#[0-9a-f]{4}\n1#..:top\n/);
    expect(details).toMatchObject({ path: join(cwd, "f"), firstChangedLine: 1, recoveries: [] });
    expect(details.diff).toContain("-b\n-c\n-d\n+D\n e\n+x");
  });

  test("the rows it shows are good for the next edit", async () => {
    const { edit, read, content } = desk({ f: letters("abc") });
    read();
    const { text } = await edit([{ op: "prepend", lines: ["x", "y"] }]);
    await edit([{ op: "replace", pos: toRows(text).get("y")!, lines: "Y" }]);
    expect(content()).toBe("x\nY\na\nb\nc\n");
  });

  test("anchors from before an own edit still mean the lines they meant", async () => {
    const { edit, read, content } = desk({ f: letters("abcdef") });
    read();
    await edit([{ op: "append", pos: anchor(1, "a"), lines: "x" }]);
    const { details } = await edit([{ op: "replace", pos: anchor(3, "c"), lines: "third" }]);
    expect(content()).toBe("a\nx\nb\nthird\nd\ne\nf\n");
    expect(details.recoveries).toEqual(["edit 1: line 3 moved by earlier edits, now line 4."]);
    const error = await toError(edit([{ op: "replace", pos: anchor(3, "c"), lines: "again" }]));
    expect(error.message).toMatch(/an earlier edit of yours changed line 3/);
  });

  test("a range over an own edit that its caller may not know of is replaced, and that is said", async () => {
    const { edit, read, content } = desk({ f: letters("abcdefghi") });
    read();
    const around = { op: "replace", pos: anchor(4, "d"), end: anchor(6, "f"), lines: ["d", "e", "F"] } as const;
    const [first, second] = await Promise.all([
      edit([{ op: "replace", pos: anchor(5, "e"), lines: ["E"] }]),
      edit([{ ...around, lines: [...around.lines] }]),
    ]);
    expect(first.details.recoveries).toEqual([]);
    expect(second.text).toContain("lines 4-6 had changed since they were first shown; the newer text was replaced.");
    expect(content()).toBe(letters("abcdeFghi"));
  });

  test("a name that fits two lines, one as shown first and one as shown since, is refused once", async () => {
    const { edit, read, content } = desk({ f: letters("aaaaaa") });
    read();
    await edit([{ op: "append", pos: anchor(1, "a"), lines: "x" }]);
    const wanted: RequestedEdit[] = [{ op: "replace", pos: anchor(3, "a"), lines: "third" }];
    expect((await toError(edit(wanted))).message).toMatch(/same tag was shown for two/);
    await edit(wanted);
    expect(content()).toBe("a\nx\nthird\na\na\na\na\n");
  });

  test("lines that were never shown are refused and shown, and then the same edit succeeds", async () => {
    const { edit, read, content } = desk({ f: letters("abcdefghijkl") });
    read("f", { limit: 2 });
    const wanted: RequestedEdit[] = [{ op: "replace", pos: anchor(8, "h"), end: anchor(9, "i"), lines: "X" }];
    const error = await toError(edit(wanted));
    expect(error).toMatchObject({ code: "stale" });
    expect(error.message).toMatch(/lines 8-9 had not been shown .*\n8#..:h\n9#..:i\n/s);
    expect(content()).toBe(letters("abcdefghijkl"));
    await edit(wanted);
    expect(content()).toBe("a\nb\nc\nd\ne\nf\ng\nX\nj\nk\nl\n");
  });

  test("what lies between two lines that were shown must have been shown too", async () => {
    const { edit, read } = desk({ f: letters("abcdefgh") });
    read("f", { limit: 2 });
    read("f", { offset: 6 });
    const wanted: RequestedEdit[] = [{ op: "replace", pos: anchor(2, "b"), end: anchor(6, "f"), lines: "X" }];
    expect((await toError(edit(wanted))).message).toMatch(/lines 2-6 had not been shown/);
  });

  test("a wrong tag changes nothing, not even by the other edits", async () => {
    const { edit, read, content } = desk({ f: letters("abc") });
    read();
    const edits: RequestedEdit[] = [
      { op: "replace", pos: anchor(1, "a"), lines: "A" },
      { op: "replace", pos: anchor(2, "not b"), lines: "B" },
    ];
    const error = await toError(edit(edits));
    expect(error.message).toMatch(/edit 2: the tag does not belong to line 2/);
    expect(content()).toBe(letters("abc"));
  });

  test("a line beyond the end is named as such", async () => {
    const { edit, read } = desk({ f: letters("abc") });
    read();
    expect((await toError(edit([{ op: "append", pos: "9#ZP", lines: "x" }]))).message).toMatch(
      /ends at line 3.*no line 9/,
    );
  });

  test("an indentation that changed is a change", async () => {
    const { edit, read, write } = desk({ f: "a\n  b\nc\n" });
    read();
    write("f", "a\n    b\nc\n");
    const error = await toError(edit([{ op: "replace", pos: anchor(2, "  b"), lines: "B" }]));
    expect(error.message).toMatch(/changed at line 2 since it was shown/);
    await edit([{ op: "replace", pos: toRows(error.message).get("    b")!, lines: "B" }]);
  });

  test("a tag that collides never leads to another line", async () => {
    const { edit, read, write, content } = desk({ f: "" });
    const twin = (text: string) => {
      for (let at = 0; ; at++) if (lineTag(`other ${at}`) === lineTag(text)) return `other ${at}`;
    };
    write("f", letters("abc"));
    read();
    const changed = `a\n${twin("b")}\nc\n`;
    write("f", changed);
    // The tag fits the line of now, but it is not the line that was shown.
    const error = await toError(edit([{ op: "replace", pos: anchor(2, "b"), lines: "X" }]));
    expect(content()).toBe(changed);
    await edit([{ op: "replace", pos: toRows(error.message).get(twin("b"))!, lines: "X" }]);
    expect(content()).toBe("a\nX\nc\n");
  });

  test("a name that was shown for two texts is refused once, then the newest counts", async () => {
    const twin = (text: string) => {
      for (let at = 0; ; at++) if (lineTag(`other ${at}`) === lineTag(text)) return `other ${at}`;
    };
    const { edit, read, write, content } = desk({ f: letters("abc") });
    read();
    write("f", `a\n${twin("b")}\nc\n`);
    read();
    const wanted: RequestedEdit[] = [{ op: "replace", pos: anchor(2, "b"), lines: "X" }];
    expect((await toError(edit(wanted))).message).toMatch(/same tag was shown for two different texts of line 2/);
    await edit(wanted);
    expect(content()).toBe("a\nX\nc\n");
  });

  test("a link leads to the file, and it is one file by either name", async () => {
    const { edit, read, content, cwd } = desk({ f: letters("abc") });
    symlinkSync("f", join(cwd, "link"));
    read();
    await edit([{ op: "replace", pos: anchor(2, "b"), lines: "B" }], "link");
    expect(content()).toBe("a\nB\nc\n");
  });

  test("nothing to change is said, and nothing is written", async () => {
    const { edit, read } = desk({ f: letters("abc") });
    read();
    const { text, details } = await edit([{ op: "replace", pos: anchor(2, "b"), lines: "b" }]);
    expect(text).toMatch(/^Nothing to change in f/);
    expect(details.firstChangedLine).toBeUndefined();
  });

  test.each([
    ["lines", (edits: unknown) => edits],
    ["edits too", (edits: unknown) => JSON.stringify(edits)],
  ])("a list that comes as JSON in a string is a list (%s)", async (_what, spelled) => {
    const { edit, editor, read, content } = desk({ f: letters("abcdef") });
    read();
    const given = [
      { op: "replace", pos: anchor(1, "a"), lines: JSON.stringify(["x", "", '"y"']) },
      { op: "replace", pos: anchor(3, "c"), lines: "[]" },
      // These are no list of lines, and meant as they stand.
      { op: "replace", pos: anchor(4, "d"), lines: "[1, 2]" },
      { op: "replace", pos: anchor(5, "e"), lines: '  ["indented"]' },
      { op: "replace", pos: anchor(6, "f"), lines: '["open",' },
    ];
    const { edits } = editor.prepareArguments!({ path: "f", edits: spelled(given) });
    await edit(edits as RequestedEdit[]);
    expect(content()).toBe('x\n\n"y"\nb\n[1, 2]\n  ["indented"]\n["open",\n');
  });

  test.each([undefined, null, "text", { path: "f" }, { path: "f", edits: "[1" }, { path: "f", edits: [null, 7] }])(
    "arguments that make no sense are left to the validation: %j",
    (args) => {
      expect(desk({}).editor.prepareArguments!(args)).toEqual(args);
    },
  );

  test("UTF-16 is refused", async () => {
    const { edit } = desk({ f: Buffer.from("\ufeffa\n", "utf16le") });
    expect((await toError(edit([{ op: "append", lines: "x" }]))).message).toMatch(/UTF-16/);
  });
});

describe("a file that changed since it was read", () => {
  test("a line is found where it is now, and that is reported", async () => {
    const { edit, read, write, content } = desk({ f: letters("abcdef") });
    read();
    write("f", letters("XYabcdef"));
    const { text, details } = await edit([{ op: "replace", pos: anchor(4, "d"), lines: "D" }]);
    expect(content()).toBe(letters("XYabcDef"));
    const note = "edit 1: the file changed since it was read; line 4 found unchanged, now line 6.";
    expect(details.recoveries).toEqual([note]);
    expect(text).toContain(note);
  });

  test("a range whose inside changed is merged line by line where the edit leaves that line alone", async () => {
    const { edit, read, write, content } = desk({ f: letters("abcdefgh") });
    read();
    write("f", letters("abcdEfgh"));
    const { details } = await edit([
      { op: "replace", pos: anchor(2, "b"), end: anchor(7, "g"), lines: ["B", "c", "d", "e", "f", "G"] },
    ]);
    expect(content()).toBe(letters("aBcdEfGh"));
    expect(details.recoveries[0]).toMatch(/merged line by line/);
  });

  test("a change that another program already made is left as it is", async () => {
    const { edit, read, write, content } = desk({ f: letters("abcdefgh") });
    read();
    write("f", letters("abcDefgh"));
    const { text } = await edit([{ op: "replace", pos: anchor(4, "d"), lines: "D" }]);
    expect(content()).toBe(letters("abcDefgh"));
    expect(text).toMatch(/already/);
  });

  test("a line that changed itself is refused with the lines of now, and one retry succeeds", async () => {
    const { edit, read, write, content } = desk({ f: letters("abcdef") });
    read();
    write("f", letters("XYabcQef"));
    const error = await toError(edit([{ op: "replace", pos: anchor(4, "d"), lines: "D" }]));
    expect(content()).toBe(letters("XYabcQef"));
    await edit([{ op: "replace", pos: toRows(error.message).get("Q")!, lines: "D" }]);
    expect(content()).toBe(letters("XYabcDef"));
  });

  test("a line that might be any of several is refused", async () => {
    const { edit, read, write } = desk({ f: "start\n}\nend\n" });
    read();
    write("f", "start\n}\n}\nend\n");
    expect((await toError(edit([{ op: "replace", pos: anchor(2, "}"), lines: "x" }]))).message).toMatch(
      /changed at line 2/,
    );
  });

  test("own edits and those of others are told apart one after the other", async () => {
    const { edit, read, write, content } = desk({ f: letters("abcdefgh") });
    read();
    await edit([{ op: "prepend", lines: ["own"] }]);
    write("f", `other\n${content()}`);
    await edit([{ op: "replace", pos: anchor(5, "e"), lines: "E" }]);
    expect(content()).toBe(`other\nown\n${letters("abcdEfgh")}`);
  });

  test("a file too large to be remembered is put together again from the lines that were read", async () => {
    const { edit, read, write, content } = desk({ f: letters("abcdefgh") }, { limits: { maxTextLength: 4 } });
    read("f", { offset: 2, limit: 5 });
    write("f", letters("abcQefgh"));
    const { details } = await edit([{ op: "replace", pos: anchor(6, "f"), lines: "F" }]);
    expect(content()).toBe(letters("abcQeFgh"));
    expect(details.recoveries[0]).toMatch(/rebuilt from the lines that were read/);
    write("f", letters("XabcQeFgh"));
    const error = await toError(edit([{ op: "replace", pos: anchor(2, "b"), lines: "B" }]));
    expect(error).toMatchObject({ code: "stale" });
  });
});

describe("hashline_patch", () => {
  test("changes several files by the tags of their texts", async () => {
    const { read, patch, content } = desk({ f: letters("abcdef"), g: "1\r\n2\r\n3" });
    const f = getTag(read("f"));
    const g = getTag(read("g"));
    const { text, details } = await patch(`¶f#${f}\n2-3:\n+B\n+C\n5!\n1↑top\n¶g#${g}\n3↓\n+4\nBOF↑0\n`);
    expect(content("f")).toBe("top\na\nB\nC\nd\nf\n");
    expect(content("g")).toBe("0\r\n1\r\n2\r\n3\r\n4");
    expect(details.files.map(({ firstChangedLine }) => firstChangedLine)).toEqual([1, 1]);
    // The tag that comes back is good for the next patch.
    const next = /¶f#([0-9a-f]{4})/.exec(text)![1]!;
    await patch(`¶f#${next}\n1!`);
    expect(content("f")).toBe("a\nB\nC\nd\nf\n");
  });

  test("a tag that is not known is refused with the text of now", async () => {
    const { patch, content } = desk({ f: letters("abc") });
    const error = await toError(patch("¶f#0000\n2!"));
    expect(error.message).toMatch(/tag 0000 is of no text/);
    await patch(`¶f#${getTag(error.message.slice(error.message.indexOf("¶")))}\n2!`);
    expect(content()).toBe("a\nc\n");
  });

  test("one section that cannot be placed leaves all files alone", async () => {
    const { read, patch, content } = desk({ f: letters("abc"), g: letters("xyz") });
    const f = getTag(read("f"));
    read("g");
    await toError(patch(`¶f#${f}\n1!\n¶g#0000\n1!`));
    expect(content("f")).toBe(letters("abc"));
  });

  test("overlaps are refused with both ranges", async () => {
    const { read, patch } = desk({ f: letters("abcdef") });
    const f = getTag(read("f"));
    expect((await toError(patch(`¶f#${f}\n1-3!\n3-4:x`))).message).toMatch(/lines 1-3 and lines 3-4/);
  });

  test("sections of one file must agree on its tag", async () => {
    const { read, patch, content } = desk({ f: letters("abcdef") });
    const f = getTag(read("f"));
    expect((await toError(patch(`¶f#${f}\n1!\n¶./f#0000\n2!`))).message).toMatch(/Two sections are of one file/);
    await patch(`¶f#${f}\n1!\n¶./f#${f}\n2!`);
    expect(content()).toBe(letters("cdef"));
  });

  test("whatever call fails, all files have their new content or all have the old", async () => {
    const before = { f: letters("abc"), g: "1\r\n2\r\n", h: letters("xyz") };
    const after = { f: letters("bc"), g: "1\r\n", h: letters("xy") };
    const outcomes = new Set<string>();
    const points = await withEveryFault(nodeFileSystem, async (fileSystem) => {
      const { read, patch, content } = desk(before, { files: createFiles({ fileSystem }) });
      const [f, g, h] = ["f", "g", "h"].map((name) => getTag(read(name)));
      const outcome = await patch(`¶f#${f}\n1!\n¶g#${g}\n2!\n¶h#${h}\n3!`).then(
        () => "written",
        () => "failed",
      );
      outcomes.add(outcome);
      const now = { f: content("f"), g: content("g"), h: content("h") };
      expect(now).toEqual(outcome === "written" ? after : before);
    });
    expect(points).toBeGreaterThan(30);
    expect([...outcomes].sort()).toEqual(["failed", "written"]);
  });
});

describe("a patch that cannot be taken back", () => {
  const before: Record<string, string> = { f: letters("abc"), g: "1\r\n2\r\n", h: letters("xyz") };
  const after: Record<string, string> = { f: letters("bc"), g: "1\r\n", h: letters("xy") };
  const names = ["f", "g", "h"];
  const patchAll = async ({ read, patch }: ReturnType<typeof desk>) => {
    const [f, g, h] = names.map((name) => getTag(read(name)));
    return await patch(`¶f#${f}\n1!\n¶g#${g}\n2!\n¶h#${h}\n3!`);
  };
  /** Reads from a message how the files are. */
  const statedBy = (message: string) => {
    const listed = (what: string) => new RegExp(`${what}: ([^.]*)\\.`).exec(message)?.[1]?.split(", ") ?? [];
    return {
      old: message.includes("Every file is as it was.") ? names : listed("With the old content"),
      new: listed("With the new content"),
      unknown: listed("With the old or the new content, they could not be read again"),
    };
  };

  test("names what each file holds, and never wrongly, whatever call is the first to fail for ever", async () => {
    const seen = new Set<string>();
    await withEveryFault(
      nodeFileSystem,
      async (fileSystem) => {
        const all = desk(before, { files: createFiles({ fileSystem }) });
        const error: unknown = await patchAll(all).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        const holding = (contents: Record<string, string>) =>
          names.filter((name) => all.content(name) === contents[name]);
        if (!(error instanceof Error) || !error.message.startsWith("Writing")) {
          expect(holding(error ? before : after)).toEqual(names);
          return;
        }
        const stated = statedBy(error.message);
        expect([...stated.old, ...stated.new, ...stated.unknown].sort()).toEqual(names);
        expect(holding(before)).toEqual(expect.arrayContaining(stated.old));
        expect(holding(after)).toEqual(expect.arrayContaining(stated.new));
        // Only the file that was being written can be in an unknown state.
        expect(stated.unknown.length).toBeLessThanOrEqual(1);
        if (stated.new.length > 0) expect(error).toMatchObject({ code: "failed" });
        seen.add(JSON.stringify(stated));
      },
      { lasts: "forever" },
    );
    expect(seen).toContain('{"old":["h"],"new":["f"],"unknown":["g"]}');
  });

  test.each([
    [1, "Every file is as it was."],
    [2, "With the new content: f. With the old content: g, h."],
    [3, "With the new content: f, g. With the old content: h."],
  ])("a disk that takes no file from the rename %i on: %s", async (first, state) => {
    let renames = 0;
    const rename: typeof nodeFileSystem.rename = async (from, to) => {
      if (++renames >= first) throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
      await nodeFileSystem.rename(from, to);
    };
    const all = desk(before, { files: createFiles({ fileSystem: { ...nodeFileSystem, rename } }) });
    const error = await toError(patchAll(all));
    expect(error.message.startsWith(`Writing ${names[first - 1]} failed: `)).toBe(true);
    expect(error.message.endsWith(`. ${state}`)).toBe(true);
    expect(names.map((name) => all.content(name))).toEqual(
      names.map((name, at) => (at < first - 1 ? after : before)[name]),
    );
  });

  test("is not tried again, although the file that stopped it was overtaken", async () => {
    const real = createFiles();
    const written: string[] = [];
    const files: Files = {
      ...real,
      async writeWhole(path, ...rest) {
        written.push(path.slice(-1));
        if (path.endsWith("g")) throw new ToolsError("overtaken", "g was changed.");
        if (written.length > 1) throw new Error("no space");
        return await real.writeWhole(path, ...rest);
      },
    };
    const all = desk(before, { files });
    const error = await toError(patchAll(all));
    expect(error).toMatchObject({ code: "failed" });
    expect(error.message).toMatch(/g was changed\. With the new content: f\. With the old content: g, h\.$/);
    expect(written).toEqual(["f", "g", "f"]);
  });

  test("what another program wrote meanwhile is left as it is, and reported", async () => {
    const real = createFiles();
    const all = desk(before, {
      files: {
        ...real,
        async writeWhole(path, ...rest) {
          const result = await real.writeWhole(path, ...rest);
          if (path.endsWith("g")) {
            all.write("f", "theirs, and longer than it was\n");
            throw new Error("no space");
          }
          return result;
        },
      },
    });
    const error = await toError(patchAll(all));
    expect(error.message).toMatch(/With the old content: g, h\. Changed by another process meanwhile: f\.$/);
    expect(all.content("f")).toBe("theirs, and longer than it was\n");
  });
});

describe("showing", () => {
  test("a part is shown with the numbers it has, and how to go on", () => {
    const { read } = desk({ f: letters("abcdef") });
    expect(read("f", { offset: 2, limit: 2 })).toBe(
      `¶f#${getTag(read())}\n${anchor(2, "b")}:b\n${anchor(3, "c")}:c\n\n[Showing lines 2-3 of 6. Continue with offset=4.]`,
    );
  });

  test("the mark and the carriage returns are not shown", () => {
    const { read } = desk({ f: "\ufeffa\r\nb" });
    expect(read().split("\n").slice(1)).toEqual([`${anchor(1, "a")}:a`, `${anchor(2, "b")}:b`]);
  });

  test("an empty file, a line that is too long and an offset beyond the end are explained", () => {
    const { read } = desk({ f: "", g: `${"x".repeat(60_000)}\nb\n` });
    expect(read("f")).toMatch(/^¶f#5d05\n\n\(the file is empty\)$/);
    expect(read("g")).toMatch(/Line 1 is too long .*offset=2/);
    expect(() => read("g", { offset: 9 })).toThrow(/beyond the end/);
  });
});
