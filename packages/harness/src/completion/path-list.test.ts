import fc from "fast-check";
import { expect, test } from "vitest";
import { PathList } from "./path-list.ts";

const getPaths = (list: PathList): string[] =>
  Array.from({ length: list.count }, (_unused, index) => list.getPath(index));

const toBytes = (paths: readonly string[]): Buffer => Buffer.from(paths.map((path) => `${path}\0`).join(""));

test("each directory is listed once, before what is in it", () => {
  const list = new PathList();
  list.append(toBytes(["a/b/one", "a/b/two", "c", "a/three", "a/b/four", "empty/"]));
  expect(getPaths(list)).toEqual(["a/", "a/b/", "a/b/one", "a/b/two", "c", "a/three", "a/b/four", "empty/"]);
  expect([list.hasDirectory("a/b/"), list.hasDirectory("a/b"), list.hasDirectory("b/")]).toEqual([true, false, false]);
});

test("the list is the same however the bytes are split", () => {
  const segment = fc.constantFrom("a", "b", "bb", "ü", "name with blanks", ".x");
  const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join("/"));
  fc.assert(
    fc.property(fc.uniqueArray(path, { maxLength: 20 }), fc.array(fc.nat({ max: 400 })), (paths, cuts) => {
      const bytes = toBytes(paths);
      const list = new PathList();
      const stops = [...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      stops.reduce((from, to) => {
        list.append(bytes.subarray(from, to));
        return to;
      }, 0);
      const listed = getPaths(list);
      expect(listed.filter((listedPath) => !listedPath.endsWith("/"))).toEqual(paths);
      const directories = paths.flatMap((whole) => whole.split("/").map((_unused, index, all) => all.slice(0, index)));
      const wanted = new Set(directories.filter(({ length }) => length > 0).map((parts) => `${parts.join("/")}/`));
      const listedDirectories = listed.filter((listedPath) => listedPath.endsWith("/"));
      expect(listedDirectories.toSorted()).toEqual([...wanted].toSorted());
    }),
  );
});

test("paths that cannot be written in a prompt are left out", () => {
  const list = new PathList();
  const notUtf8 = Buffer.from([0x61, 0xff, 0x62, 0]);
  list.append(
    Buffer.concat([toBytes(["good", "a\nb", "c\x1b[31m", "d\x7f", "käse"]), notUtf8, toBytes(["x\ny/z", "last"])]),
  );
  expect(getPaths(list)).toEqual(["good", "käse", "last"]);
});

test("a list is full at its limits, and keeps what it has", () => {
  const few = new PathList({ maxPaths: 2 });
  expect(few.append(toBytes(["a", "b", "c"]))).toBe(false);
  expect(getPaths(few)).toEqual(["a", "b"]);
  const small = new PathList({ maxBytes: 10 });
  expect(small.append(toBytes(["abc"]))).toBe(true);
  expect(small.append(toBytes(["too long"]))).toBe(false);
  expect(getPaths(small)).toEqual(["abc"]);
});

test("a path that is longer than any file system allows is left out", () => {
  const list = new PathList();
  list.append(toBytes(["x".repeat(70_000), "short"]));
  expect(getPaths(list)).toEqual(["short"]);
});
