import { expect, test } from "vitest";
import { findPlugin, type Marketplace } from "./marketplaces.ts";
import { type PackageSource, parseSource, type PluginSource } from "./package-source.ts";

const parse = (text: string) => parseSource(text, "/") as PackageSource;
const plugin = parse("a@m") as PluginSource;

const listFrom = (market: string, source: string): Marketplace => ({
  name: "m",
  source: parse(market),
  root: "/m",
  commit: "1".repeat(40),
  plugins: [{ name: "a", description: "", location: { kind: "git", source, path: "" }, manifest: {} }],
});

test.each<[market: string, source: string, isOpen: boolean]>([
  ["git:github.com/o/m", "git:https://h/a", true],
  ["git:github.com/o/m", "git:github.com/o/a", true],
  ["git:github.com/o/m", "git:file:///home/me/private", false],
  ["git:github.com/o/m", "git:/home/me/private", false],
  ["git:github.com/o/m", "git:ssh://git@h/a", false],
  ["git:github.com/o/m", "git:git@h:o/a", false],
  ["git:git@h:o/m", "git:git@h:o/a", true],
  ["git:git@h:o/m", "git:ssh://git@h/a", true],
  ["git:git@h:o/m", "git:file:///home/me/private", false],
  ["npm:m", "git:file:///home/me/private", false],
  ["/home/me/m", "git:file:///home/me/a", true],
])("what the marketplace %s may name: %s, %s", (market, source, isOpen) => {
  const find = () => findPlugin(plugin, [listFrom(market, source)]);
  if (isOpen) expect(find()).toMatchObject({ kind: "repository", plugin: { source, path: "" } });
  else expect(find).toThrow(/is not at an https address/);
});
