import fc from "fast-check";
import { expect, test } from "vitest";
import type { Component } from "./component.ts";
import { Container } from "./components/container.ts";
import { ScrolledLines } from "./scrolled-lines.ts";

const create = (...lines: string[]): Component & { lines: string[] } => ({
  lines,
  render() {
    return this.lines;
  },
  invalidate() {},
});

function ask(lines: ScrolledLines, top: number, height: number): string[] {
  lines.begin(20, {});
  while (lines.ask(top, height));
  return lines.slice(top, top + height);
}

test("a component that is twice in a document counts twice, also after it changed its height", () => {
  const root = new Container();
  const first = create("first");
  const gap = create("");
  for (const child of [first, gap, create("one"), gap, create("two")]) root.addChild(child);
  const lines = new ScrolledLines(root);
  expect(ask(lines, 0, 10)).toEqual(["first", "", "one", "", "two"]);
  root.removeChild(first);
  gap.lines = ["", ""];
  expect(ask(lines, 0, 10)).toEqual(["", "", "one", "", "", "two"]);
  expect(lines.count).toBe(6);
});

test("a small document is known exactly after any changes of its containers", () => {
  const change = fc.record({
    to: fc.nat(3),
    at: fc.nat(5),
    height: fc.nat(3),
    kind: fc.constantFrom("add", "put", "remove"),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), fc.nat(20), (changes, top) => {
      const containers = Array.from({ length: 4 }, () => new Container());
      const [root, outer, inner, last] = containers as [Container, Container, Container, Container];
      root.children = [outer, last];
      outer.children = [inner];
      const lines = new ScrolledLines(root);
      for (const [index, { to, at, height, kind }] of changes.entries()) {
        const { children } = containers[to] as Container;
        const leaf = create(...Array.from({ length: height }, (_unused, row) => `${index}.${row}`));
        if (kind === "add") children.push(leaf);
        else if (kind === "put") children.splice(at, 0, leaf);
        else if (children[at] && !(children[at] instanceof Container)) children.splice(at, 1);
        expect(ask(lines, top, 5)).toEqual(root.render(20).slice(top, top + 5));
        expect(lines.count).toBe(root.render(20).length);
      }
    }),
  );
});

test("a view in the middle of many components knows who draws each of its lines", () => {
  const root = new Container();
  const leaves = Array.from({ length: 5_000 }, (_unused, index) => create(`${index} a`, `${index} b`));
  for (const leaf of leaves) root.addChild(leaf);
  const lines = new ScrolledLines(root);
  const [first = ""] = ask(lines, 2_500, 5);
  const leaf = lines.findLeaf(2_500);
  expect(leaf?.component.render(20)).toContain(first);
  expect(lines.findLeaf(lines.count)).toBeUndefined();
});

test("what is put before a component that is held counts as grown, so that the component can stay where it is", () => {
  const root = new Container();
  const inner = new Container();
  const children = ["a", "b", "c"].map((text) => create(text, text));
  inner.children = children;
  root.children = [create("title"), inner];
  const lines = new ScrolledLines(root);
  ask(lines, 0, 10);
  inner.children = [create("x"), create("y", "y", "y"), ...children];
  lines.begin(20, {}, children[0]);
  let top = lines.takeGrown();
  while (lines.ask(top, 2)) top += lines.takeGrown();
  expect(lines.slice(top, top + 2)).toEqual(["y", "a"]);
});
