/** Links that a script makes: what is written through them later goes to where they lead. */
import { unresolvedTarget } from "../links.ts";
import { baseName } from "../paths.ts";
import { resolveAll, resolveEntries } from "./invocation.ts";
import type { Scope } from "../shell/analysis.ts";
import { isKnown, type Text } from "../shell/text.ts";

export interface NewLink {
  source: Text;
  /** The name of the link, or a directory in which it gets the name of the source. */
  target: Text;
  /** Symbolic links keep the text of their target; of hard links it is a path like any other. */
  isSymbolic: boolean;
}

/** Remembers a link. The target may be a directory, where only the script's surroundings would tell. */
export function addLink({ source, target, isSymbolic }: NewLink, scope: Scope): void {
  const { state } = scope;
  for (const path of resolveEntries({ ...target, text: target.text.replace(/(?<=[^/])\/+$/, "") }, scope)) {
    const inside = `${path}/${baseName(source.text.replace(/\/+$/, ""))}`;
    const isDirectory = /(?:^|\/)\.{0,2}$/.test(target.text) || state.directories.includes(path);
    for (const link of isDirectory ? [inside] : [path, inside])
      for (const to of isSymbolic ? [toTarget(source)] : resolveAll(source, scope))
        if (to !== link) state.addLink(link, to);
  }
}

const toTarget = ({ text }: Text): string => (isKnown(text) ? text : unresolvedTarget);

/** A link that is moved or copied as a link leads to the same place under its new name. */
export function moveLinks(source: Text, target: Text | undefined, scope: Scope): void {
  if (!target || scope.state.links.size === 0) return;
  for (const path of resolveEntries(source, scope)) {
    const directory = path.slice(0, path.lastIndexOf("/"));
    for (const to of scope.state.links.get(path) ?? []) {
      const absolute = to.startsWith("/") || !isKnown(to) ? to : `${directory}/${to}`;
      addLink({ source: { text: absolute, origin: 0 }, target, isSymbolic: true }, scope);
      for (const name of resolveEntries(target, scope)) scope.state.addLink(`${name}/${baseName(path)}`, absolute);
    }
  }
}

/** Remembers where files are put that may be links: a directory, or the current one beside files that are there. */
export function addForeign(directory: Text | undefined, scope: Scope): void {
  const { state } = scope;
  if (!directory) for (const path of state.realDirectories) state.foreignDirectories.set(path, "nested");
  else for (const path of resolveAll(directory, scope)) state.foreignDirectories.set(path, "all");
}
