/** Files that are copied, linked or moved: where they go, and what they then contain. */
import { baseName } from "../paths.ts";
import { resolveAll } from "./invocation.ts";
import type { Scope } from "../shell/analysis.ts";
import { getFileOrigin, judgeRead } from "../shell/files.ts";
import { isKnown, known, origins, type Text, unknown } from "../shell/text.ts";
import { judgeWrite } from "./write.ts";

export function judgeCopy(sources: readonly Text[], target: Text, scope: Scope): void {
  judgeTarget(target, sources, scope);
  for (const source of sources) copyContent(source, target, scope);
}

/** Where files are put: into a directory they keep their names. */
function judgeTarget(target: Text, sources: readonly Text[], scope: Scope): void {
  for (const path of resolveAll(target, scope)) {
    judgeWrite(path, scope);
    for (const source of sources.slice(0, 8)) {
      const name = source.text.replace(/\/+$/, "").split("/").at(-1)!;
      if (name !== "" && !path.endsWith(`/${name}`))
        for (const inside of scope.state.follow(`${path}/${name}`)) judgeWrite(inside, scope, { isGuess: true });
    }
  }
}

/** Remembers what a copy contains. A program of the system stays that program under its new name. */
function copyContent(source: Text, target: Text, scope: Scope): void {
  for (const path of resolveAll(source, scope)) {
    const isProgram = /\/s?bin\/[^/]+$/.test(path) && isKnown(path);
    const origin = getFileOrigin(path, scope.analysis.context);
    judgeRead(path, scope);
    const isSecret = (origin & (origins.credential | origins.secret)) !== 0;
    const plain = isProgram ? [known(`exec ${path} "$@"`)] : isSecret ? [unknown(origin)] : undefined;
    const content = scope.state.files.get(path) ?? plain;
    if (!content) continue;
    for (const to of resolveAll(target, scope)) {
      scope.state.files.set(to, content);
      scope.state.files.set(`${to}/${baseName(path)}`, content);
    }
  }
}
